// Pictures in memory and in files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace picture {

/// Linear RGB, rows from the top, three floats per pixel: 0 is black, 1 is white. Values beyond are
/// clipped when written.
struct image {
  int width = 0, height = 0;
  std::vector<float> rgb;

  image() = default;
  image(int w, int h)
      : width(w), height(h), rgb(3 * static_cast<std::size_t>(w) * static_cast<std::size_t>(h)) {}
  [[nodiscard]] std::span<float> row(int y) {
    auto const n = 3 * static_cast<std::size_t>(width);
    return std::span(rgb).subspan(static_cast<std::size_t>(y) * n, n);
  }
};

/// The colour of pixels that could not be computed: magenta.
inline constexpr std::array<float, 3> missing_colour{1, 0, 1};

/// Premultiplied linear colours and opacities: red, green, blue and opacity of each pixel.
struct transparent_image {
  int width = 0, height = 0;
  std::vector<float> rgba;

  transparent_image() = default;
  transparent_image(int w, int h)
      : width(w), height(h), rgba(4 * static_cast<std::size_t>(w) * static_cast<std::size_t>(h)) {}
};

/// Composites `front` over a background of the same size.
[[nodiscard]] image over(transparent_image const& front, image const& background);
/// Reads a PNG file, colours unchanged (no gamma). Throws skel::usage_error `path: reason`.
[[nodiscard]] image read_png(std::string const& path);

/// Writes a picture. The extension selects the format: .png and .ppm (8 bits, as SPD: value times
/// 255, no gamma), .pfm (floats, little endian, lowest row first) or .exr (floats, if OpenEXR was
/// found). The file appears under its name only when it is complete. Throws skel::usage_error for
/// another extension, skel::error `path: reason` if it cannot be written.
void write_image(std::string const& path, image const& picture);
/// Writes colours and opacity: to .png, colours not premultiplied, or to .exr, the floats as they are.
/// The other formats have no opacity and are refused.
void write_image(std::string const& path, transparent_image const& picture);
/// Throws the errors of write_image for this extension and these pixels, of a transparent_image if
/// `opacity` is set. Call it before hours of rendering.
void check_image_name(std::string const& path, int width, int height, bool opacity = false);

/// Returns the bytes that write_image would write for this name.
std::vector<std::byte> encode_image(std::string const& path, image const& picture);
std::vector<std::byte> encode_png(image const& picture);
std::vector<std::byte> encode_png(transparent_image const& picture);
std::vector<std::byte> encode_ppm(image const& picture);
std::vector<std::byte> encode_pfm(image const& picture);

}  // namespace picture
