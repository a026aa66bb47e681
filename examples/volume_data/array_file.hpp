// Files of named arrays with dimensions and attributes, as netCDF and HDF5 have them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "formats.hpp"

namespace volume_data {

/// What prints HDF5's errors.
struct hdf5_printer {
  int (*print)(std::int64_t, void*) = nullptr;
  void* data = nullptr;
};
hdf5_printer silence_hdf5() noexcept;
void restore(hdf5_printer const& before) noexcept;

/// libnetcdf is not thread-safe, HDF5 only if it was built so, and libnetcdf calls HDF5: one lock for
/// both. While a thread holds it, HDF5 prints no errors.
class array_lock {
 public:
  array_lock();
  ~array_lock() { restore(before_); }
  array_lock(array_lock const&) = delete;
  array_lock& operator=(array_lock const&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
  hdf5_printer before_;
};

struct array_variable {
  int group = 0, id = 0;
  std::string name;  ///< with the groups around it, as in /model/wind; without a / in the root group
  std::optional<scalar_type> type;  ///< the smallest one with all values; nothing if they are no numbers
  std::string type_name;            ///< in the file
  std::size_t rank = 0;
};

struct array_dimension {
  std::string name;  ///< may be empty
  std::size_t length = 0;
  bool unlimited = false;
  std::optional<array_variable> coordinate{};  ///< the variable with its coordinates
};

/// As array_file::written() for a file that libnetcdf has open. Returns nothing if HDF5 is missing or does
/// not find the variable.
[[nodiscard]] std::optional<double> written_in_hdf5(std::string const& path, std::string const& variable);

/// An opened file. Errors are usage_error `path: variable: ...`. Every call needs an array_lock, the
/// destructor's too.
class array_file {
 public:
  /// Longer attributes are ignored.
  static constexpr std::size_t longest_text = 4096, most_numbers = 4096;

  explicit array_file(std::string path) : path_(std::move(path)) {}
  virtual ~array_file() = default;
  array_file(array_file const&) = delete;
  array_file& operator=(array_file const&) = delete;

  [[nodiscard]] std::string const& path() const noexcept { return path_; }

  /// All variables of all groups.
  [[nodiscard]] virtual std::vector<array_variable> variables() const = 0;
  /// The slowest first.
  [[nodiscard]] virtual std::vector<array_dimension> dimensions(array_variable const& of) const = 0;
  /// An attribute's text, "" if it does not exist or is no text.
  [[nodiscard]] virtual std::string text(array_variable const& of, char const* name) const = 0;
  /// An attribute's numbers, none if it does not exist or is text.
  [[nodiscard]] virtual std::vector<double> numbers(array_variable const& of, char const* name) const = 0;
  /// Whether an attribute has numbers of a floating type.
  [[nodiscard]] virtual bool is_floating(array_variable const& of, char const* name) const = 0;
  /// The value that stands for a missing one where no attribute says so.
  [[nodiscard]] virtual std::optional<double> default_fill(array_variable const& of) const = 0;

  /// Sizes of the stored chunks, the slowest dimension first; empty if the values are contiguous.
  /// Throws if the values cannot be read.
  [[nodiscard]] virtual std::vector<std::size_t> chunks(array_variable const& of) const = 0;
  /// Makes the variable's cache hold `bytes` bytes of chunks.
  virtual void set_cache(array_variable const& of, std::size_t bytes) = 0;
  /// The most values that can have been written, however well they are compressed.
  [[nodiscard]] virtual double written(array_variable const& of) const = 0;
  /// Reads a block of values as they are stored.
  virtual void read(array_variable const& of, std::vector<std::size_t> const& start,
                    std::vector<std::size_t> const& count, std::vector<double>& to) const = 0;

 private:
  std::string path_;
};

/// Which dimension of a variable is which axis.
struct array_layout {
  std::array<std::size_t, 3> axes{};  ///< x, y, z
  std::optional<std::size_t> time{};
};

/// A volume with the conventions of CF.
[[nodiscard]] std::unique_ptr<volume_reader> open_arrays(std::unique_ptr<array_file> file,
                                                         volume_choice const& choice);
[[nodiscard]] std::vector<variable_info> list_arrays(array_file const& file);

/// The header of a variable of numbers, still without coordinates. Throws usage_error if values or
/// chunks are larger than the file can hold; chunks that were never written must fit into memory. Makes
/// the cache hold the chunks of a slice.
[[nodiscard]] volume_header array_header(array_file& file, array_variable const& v, array_layout const& how,
                                         std::array<std::size_t, 3> const& size);
/// `decreasing`: the axes that the file stores backwards.
[[nodiscard]] std::unique_ptr<volume_reader> volume_of_array(volume_header header,
                                                             std::unique_ptr<array_file> file,
                                                             array_variable const& v, array_layout const& how,
                                                             std::size_t time,
                                                             std::array<bool, 3> const& decreasing = {});

}  // namespace volume_data
