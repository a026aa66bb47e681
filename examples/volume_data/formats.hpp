// Shared by the readers of the formats. Users include volume_reader.hpp.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "byte_source.hpp"
#include "volume_reader.hpp"

namespace volume_data {

[[nodiscard]] std::unique_ptr<volume_reader> open_vtk(std::string const& path, volume_choice const& choice);
[[nodiscard]] std::unique_ptr<volume_reader> open_netcdf(std::string const& path,
                                                         volume_choice const& choice);
[[nodiscard]] std::unique_ptr<volume_reader> open_hdf5(std::string const& path, volume_choice const& choice);
[[nodiscard]] std::unique_ptr<volume_reader> open_nrrd(std::string const& path);
[[nodiscard]] std::unique_ptr<volume_reader> open_meta_image(std::string const& path);
[[nodiscard]] std::unique_ptr<volume_reader> open_raw(std::string const& sidecar);

/// A line of list_variables().
struct variable_info {
  std::string name, type, size, unit;
  bool is_volume = true;
};
[[nodiscard]] std::vector<variable_info> list_vtk(std::string const& path);
[[nodiscard]] std::vector<variable_info> list_netcdf(std::string const& path);
[[nodiscard]] std::vector<variable_info> list_hdf5(std::string const& path);

/// Throws usage_error unless choice.time is below `times`.
void require_time(std::string const& path, volume_choice const& choice, std::size_t times);

/// A volume with stored values; `swapped`: in the opposite of the machine's byte order.
[[nodiscard]] std::unique_ptr<volume_reader> stored_volume(volume_header header, source values, bool swapped);

/// Whether a grid of this size has cells: at least two points along each axis.
[[nodiscard]] bool has_cells(std::array<std::size_t, 3> const& size);
/// Throws usage_error unless sizes are 1 to 2^31 - 1 and the values fit in 2^63 bytes.
void check_size(volume_header const& header);
/// Also throws usage_error unless `values` may hold exactly this number of values, or at least as
/// many if their size is unknown. Called before memory is allocated.
void check_size(volume_header const& header, byte_source const& values);
/// The same for bytes; `what` names the values in errors.
void check_bytes(byte_source const& values, std::uint64_t needed, std::string const& what);
/// Sets coordinates to origin + i * spacing along each axis.
void space_evenly(volume_header& header, std::array<double, 3> const& origin,
                  std::array<double, 3> const& spacing, std::string const& place);
/// Throws usage_error `place: ...` unless the coordinates are finite and increasing.
void check_coordinates(volume_header const& header, std::string const& place);
void check_coordinates(std::span<double const> axis, std::string const& place);

/// Parses exactly `count` numbers separated by white space. Throws usage_error `place: key:
/// expected ...`.
void parse_numbers(std::string_view text, std::span<double> to, std::string const& place,
                   std::string_view key);
void parse_sizes(std::string_view text, std::array<std::size_t, 3>& to, std::string const& place,
                 std::string_view key);
/// Whether the rows of a matrix are directions along the axes, none backwards. Programs write directions
/// with rounding errors: up to a millionth counts as 0.
[[nodiscard]] bool is_diagonal(std::span<double const> matrix);
/// Likewise, of length 1.
[[nodiscard]] bool is_unit(std::span<double const> matrix);
[[nodiscard]] std::string_view trimmed(std::string_view text);
[[nodiscard]] std::string lower(std::string_view text);

}  // namespace volume_data
