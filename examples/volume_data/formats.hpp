// Shared by the readers of the formats. Users include volume_reader.hpp.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "byte_source.hpp"
#include "volume_reader.hpp"

namespace volume_data {

[[nodiscard]] std::unique_ptr<volume_reader> open_vtk(std::string const& path);
[[nodiscard]] std::unique_ptr<volume_reader> open_nrrd(std::string const& path);
[[nodiscard]] std::unique_ptr<volume_reader> open_meta_image(std::string const& path);
[[nodiscard]] std::unique_ptr<volume_reader> open_raw(std::string const& sidecar);

/// Values that lie somewhere in a file; `swapped`: in the other byte order than the machine's.
[[nodiscard]] std::unique_ptr<volume_reader> stored_volume(volume_header header, source values, bool swapped);

/// usage_error unless sizes are 1 to 2^31 - 1, and 2^63 bytes hold the values.
void check_size(volume_header const& header);
/// Also throws usage_error unless `values` may hold this many numbers, and no more if their size is
/// known. Called before anything is allocated.
void check_size(volume_header const& header, byte_source const& values);
/// The same for bytes; `what` needs them.
void check_bytes(byte_source const& values, std::uint64_t needed, std::string const& what);
/// origin + i * spacing, for each axis.
void space_evenly(volume_header& header, std::array<double, 3> const& origin,
                  std::array<double, 3> const& spacing, std::string const& place);
/// usage_error `place: ...` unless the coordinates are finite and increase.
void check_coordinates(volume_header const& header, std::string const& place);

/// `count` numbers separated by white space, and nothing else; usage_error `place: key: expected ...`.
void parse_numbers(std::string_view text, std::span<double> to, std::string const& place,
                   std::string_view key);
void parse_sizes(std::string_view text, std::array<std::size_t, 3>& to, std::string const& place,
                 std::string_view key);
[[nodiscard]] std::string_view trimmed(std::string_view text);
[[nodiscard]] std::string lower(std::string_view text);

}  // namespace volume_data
