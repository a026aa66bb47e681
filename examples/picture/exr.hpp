// OpenEXR files of floats, if the library was found (SKEL_OPENEXR).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace picture {

/// Whether this build writes OpenEXR files.
[[nodiscard]] bool has_exr() noexcept;
/// Encodes pixels of 3 or 4 floats (R, G, B, A; colours premultiplied), uncompressed.
[[nodiscard]] std::vector<std::byte> encode_exr(int width, int height, std::size_t channels,
                                                std::span<float const> pixels);

}  // namespace picture
