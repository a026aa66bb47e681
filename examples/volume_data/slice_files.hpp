// Stacks: volumes with one file per slice.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "byte_source.hpp"
#include "volume_reader.hpp"

namespace volume_data {

/// The slices' names, from low z to high.
using slice_files = std::vector<std::string>;

/// `count` names: `pattern` with its one %d, %4d or %04d replaced by `first`, `first + step`, ...,
/// relative to the folder of `header`. Throws usage_error `header: ...` for another pattern.
[[nodiscard]] slice_files numbered_files(std::string const& header, std::string_view pattern,
                                         std::int64_t first, std::int64_t step, std::size_t count);
/// The same for as many files as exist.
[[nodiscard]] slice_files numbered_files_present(std::string const& header, std::string_view pattern,
                                                 std::int64_t first);
/// Parses `pattern first last step`, the notation of NRRD and MetaImage.
[[nodiscard]] slice_files numbered_files(std::string const& header, std::string_view text);
/// The .png files of a folder in numerical order: 9.png before 10.png.
[[nodiscard]] slice_files pictures_in(std::string const& folder);

using open_file = std::function<source(std::string const& path)>;

/// The concatenated bytes of the slices. Files are opened one at a time when they are reached;
/// skipped files are never opened. Throws usage_error at once unless there is one file per slice,
/// each large enough.
[[nodiscard]] source joined_slices(volume_header const& header, slice_files files, open_file open);

/// Grey pictures of 1 to 16 bits, unsigned numbers as they are stored (no gamma), all of one size.
/// Fills in the size and type of `header`; if it has them already, the pictures must agree. The
/// caller sets the coordinates with `place_points`.
[[nodiscard]] std::unique_ptr<volume_reader> picture_slices(
    volume_header header, slice_files files, std::function<void(volume_header&)> const& place_points);

[[nodiscard]] std::unique_ptr<volume_reader> open_folder(std::string const& path);

}  // namespace volume_data
