// Reads volumes in file order: a header, then slices. read_grid() (grid.hpp) reads a whole grid.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scalar_type.hpp"
#include "skel/error.hpp"

namespace volume_data {

/// A rectilinear grid without its values: one scalar at each grid point, x fastest.
struct volume_header {
  std::string name;  ///< the file's path, or the field's name
  scalar_type type = scalar_type::float32;
  std::array<std::size_t, 3> size{};               ///< grid points along x, y, z; each at least 1
  std::array<std::vector<double>, 3> coordinates;  ///< of the points along each axis: finite, increasing

  [[nodiscard]] std::size_t slice_samples() const { return size[0] * size[1]; }
  [[nodiscard]] std::size_t samples() const { return slice_samples() * size[2]; }
  [[nodiscard]] std::size_t row_bytes() const { return size[0] * size_of(type); }
  [[nodiscard]] std::size_t slice_bytes() const { return slice_samples() * size_of(type); }
  [[nodiscard]] std::size_t bytes() const { return samples() * size_of(type); }
};

/// An opened volume. It stores no slices; its own memory is a few buffers of 64 KB.
///
///     auto const volume = volume_data::open_volume("head.nrrd");
///     std::vector<float> slice(volume->header().slice_samples());
///     for (std::size_t z = 0; z < volume->header().size[2]; ++z) volume->read(slice);
class volume_reader {
 public:
  virtual ~volume_reader() = default;
  volume_reader(volume_reader const&) = delete;
  volume_reader& operator=(volume_reader const&) = delete;

  [[nodiscard]] volume_header const& header() const noexcept { return header_; }
  /// Index of the next slice to read; header().size[2] at the end.
  [[nodiscard]] std::size_t position() const noexcept { return position_; }

  /// Reads the next slices. The size of `slices` must be a whole number of slices, at most the
  /// remaining ones. Values are in the machine's byte order. Throws usage_error with the file and
  /// the place.
  void read(std::span<std::byte> slices);
  void read(std::span<float> slices) { read_as(slices); }
  void read(std::span<double> slices) { read_as(slices); }
  /// Reads whole rows of the next slice, from row `first` on, as float32. The slice stays the next
  /// one until skip(1); until then, rows are read in increasing order, and read() is not called.
  void read_rows(std::size_t first, std::span<float> rows);
  /// Reads every `step`-th sample of a row, likewise.
  void read_samples(std::size_t row, std::size_t step, std::span<float> to);
  /// Whether read_rows() takes time for the rows that it reads only; otherwise the first call
  /// decodes the whole slice.
  [[nodiscard]] virtual bool reads_rows_freely() const { return false; }
  /// Skips the next slices. Free if slices are computed or seekable (plain raw values, stacks of
  /// files); otherwise (compressed, text) as expensive as reading.
  void skip(std::size_t slices);
  /// Whether skip() is free.
  [[nodiscard]] virtual bool skips_freely() const = 0;

 protected:
  explicit volume_reader(volume_header header) : header_(std::move(header)) {}
  virtual void fill(std::span<std::byte> next) = 0;
  virtual void pass(std::size_t slices) = 0;
  /// Fills rows of the slice at position(), in increasing order.
  virtual void fill_rows(std::size_t first, std::span<std::byte> rows);
  /// Fills every `step`-th sample of a row; the default reads the row.
  virtual void fill_samples(std::size_t row, std::size_t step, std::span<float> to);

 private:
  template <class To>
  void read_as(std::span<To> slices);

  volume_header header_;
  std::size_t position_ = 0;
  std::size_t next_row_ = 0;  // of the slice at position_
  bool decoded_ = false;      // slice_ has the slice at position_
  std::vector<std::byte> slice_, stored_rows_;
  std::vector<float> row_;
};

/// What is read of a file that has several variables or times.
struct volume_choice {
  std::string variable{};  ///< empty: the file's default
  std::size_t time = 0;    ///< index
};

/// Thrown if a file has several volumes, and the choice names none of them.
struct variable_needed : skel::usage_error {
  using skel::usage_error::usage_error;
};

/// PATH, PATH:VARIABLE or PATH:VARIABLE@TIME.
[[nodiscard]] std::string name_of(std::string const& path, volume_choice const& choice);

/// Opens a file by its extension, in small letters or capitals: .vti, .vtr (VTK XML: ascii, inline
/// base64, appended raw or base64; zlib, LZ4, LZMA), .nc, .nc4, .cdf (netCDF, if built with it), .h5,
/// .hdf5, .he5, .hdf, .vtkhdf (HDF5 and VTKHDF, if built with it), .nrrd, .nhdr (raw, gzip, ascii),
/// .mha, .mhd (MetaImage, plain or zlib), .json (a sidecar of raw values), .raw (with the sidecar
/// FILE.raw.json); or a folder of .png files, one per slice, in the order of the numbers in their
/// names. Sizes in a header are not trusted: before memory is allocated, the file must be able to
/// hold that many values. Throws usage_error `path: place: what was expected`, or
/// variable_needed, which is one.
[[nodiscard]] std::unique_ptr<volume_reader> open_volume(std::string const& path,
                                                         volume_choice const& choice = {});

/// The variables of a file, a line for each: name, type, size, unit. Throws usage_error like
/// open_volume.
[[nodiscard]] std::string list_variables(std::string const& path);

}  // namespace volume_data
