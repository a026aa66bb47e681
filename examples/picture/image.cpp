#include "image.hpp"

#include <png.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "exr.hpp"
#include "skel/atomic_file.hpp"
#include "skel/error.hpp"

namespace picture {

namespace {

std::uint8_t eight_bits(float v) {
  // NaN compares false and becomes 0
  float const clipped = v > 0 ? std::min(v, 1.0F) : 0.0F;
  return static_cast<std::uint8_t>(std::lround(clipped * 255));
}

std::vector<std::uint8_t> eight_bits(image const& picture) {
  std::vector<std::uint8_t> out;
  out.reserve(picture.rgb.size());
  for (float const v : picture.rgb) out.push_back(eight_bits(v));
  return out;
}

std::vector<std::byte> encode_png(int width, int height, png_uint_32 format,
                                  std::vector<std::uint8_t> const& pixels) {
  png_image header;
  std::memset(&header, 0, sizeof header);
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(width);
  header.height = static_cast<png_uint_32>(height);
  header.format = format;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::vector<std::byte> out(size);
  if (png_image_write_to_memory(&header, out.data(), &size, 0, pixels.data(), 0, nullptr) == 0)
    throw skel::error(std::string("png: ") + header.message);
  out.resize(size);
  return out;
}

void write_bytes(std::string const& path, std::span<std::byte const> bytes) {
  skel::atomic_file file(path);
  file.write(bytes);
  file.commit();
}

void append(std::vector<std::byte>& out, void const* data, std::size_t size) {
  auto const* const bytes = static_cast<std::byte const*>(data);
  out.insert(out.end(), bytes, bytes + size);
}

void append(std::vector<std::byte>& out, std::string_view text) { append(out, text.data(), text.size()); }

std::string size_line(image const& picture) {
  return std::to_string(picture.width) + ' ' + std::to_string(picture.height) + '\n';
}

}  // namespace

std::vector<std::byte> encode_ppm(image const& picture) {
  std::vector<std::byte> out;
  append(out, "P6\n" + size_line(picture) + "255\n");
  auto const pixels = eight_bits(picture);
  append(out, pixels.data(), pixels.size());
  return out;
}

std::vector<std::byte> encode_pfm(image const& picture) {
  std::vector<std::byte> out;
  append(out, "PF\n" + size_line(picture) + "-1.0\n");  // a negative scale: little endian
  auto const row = 3 * static_cast<std::size_t>(picture.width);
  for (auto y = static_cast<std::size_t>(picture.height); y-- > 0;) {
    for (std::size_t i = 0; i < row; ++i) {
      auto bits = std::bit_cast<std::uint32_t>(picture.rgb[y * row + i]);
      for (int b = 0; b < 4; ++b, bits >>= 8) out.push_back(static_cast<std::byte>(bits & 255));
    }
  }
  return out;
}

std::vector<std::byte> encode_png(image const& picture) {
  return encode_png(picture.width, picture.height, PNG_FORMAT_RGB, eight_bits(picture));
}

std::vector<std::byte> encode_png(transparent_image const& picture) {
  std::vector<std::uint8_t> pixels;
  pixels.reserve(picture.rgba.size());
  for (std::size_t i = 0; i < picture.rgba.size(); i += 4) {
    float const opacity = picture.rgba[i + 3];
    for (std::size_t c = 0; c < 3; ++c)
      pixels.push_back(eight_bits(opacity > 0 ? picture.rgba[i + c] / opacity : 0));
    pixels.push_back(eight_bits(opacity));
  }
  return encode_png(picture.width, picture.height, PNG_FORMAT_RGBA, pixels);
}

image over(transparent_image const& front, image const& background) {
  image out(front.width, front.height);
  for (std::size_t i = 0, j = 0; i < out.rgb.size(); i += 3, j += 4)
    for (std::size_t c = 0; c < 3; ++c)
      out.rgb[i + c] = front.rgba[j + c] + (1 - front.rgba[j + 3]) * background.rgb[i + c];
  return out;
}

image read_png(std::string const& path) {
  png_image header;
  std::memset(&header, 0, sizeof header);
  header.version = PNG_IMAGE_VERSION;
  auto const refuse = [&] {
    std::string const text = header.message;
    png_image_free(&header);
    throw skel::usage_error(path + ": " + text);
  };
  if (png_image_begin_read_from_file(&header, path.c_str()) == 0) refuse();
  constexpr std::uint64_t most = std::uint64_t{1} << 28;  // pixels; headers are not trusted
  if (std::uint64_t{header.width} * header.height > most) {
    png_image_free(&header);
    throw skel::usage_error(path + ": expected a picture of at most 2^28 pixels");
  }
  header.format = PNG_FORMAT_RGB;
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(header));
  if (png_image_finish_read(&header, nullptr, pixels.data(), 0, nullptr) == 0) refuse();
  image out(static_cast<int>(header.width), static_cast<int>(header.height));
  for (std::size_t i = 0; i < out.rgb.size(); ++i) out.rgb[i] = static_cast<float>(pixels[i]) / 255;
  return out;
}

void check_image_name(std::string const& path, int width, int height, bool opacity) {
  if (path.ends_with(".exr") && !has_exr())
    throw skel::usage_error(path + ": this program was built without OpenEXR (SKEL_OPENEXR)");
  // libpng's simplified interface counts bytes with 32 bits.
  auto const most = std::numeric_limits<std::uint32_t>::max() / (opacity ? 4 : 3);
  auto const pixels = static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  if (path.ends_with(".png") && pixels > most)
    throw skel::usage_error(path + ": found " + std::to_string(pixels) + " pixels, expected at most " +
                            std::to_string(most) + " in a .png");
  if (path.ends_with(".png") || path.ends_with(".exr")) return;
  if (!path.ends_with(".ppm") && !path.ends_with(".pfm"))
    throw skel::usage_error(path + ": unknown extension; known: .png, .ppm, .pfm, .exr");
  if (opacity) throw skel::usage_error(path + ": the format has no opacity, expected .png or .exr");
}

std::vector<std::byte> encode_image(std::string const& path, image const& picture) {
  check_image_name(path, picture.width, picture.height);
  if (path.ends_with(".png")) return encode_png(picture);
  if (path.ends_with(".exr")) return encode_exr(picture.width, picture.height, 3, picture.rgb);
  return path.ends_with(".ppm") ? encode_ppm(picture) : encode_pfm(picture);
}

void write_image(std::string const& path, image const& picture) {
  write_bytes(path, encode_image(path, picture));
}

void write_image(std::string const& path, transparent_image const& picture) {
  check_image_name(path, picture.width, picture.height, true);
  write_bytes(path, path.ends_with(".png") ? encode_png(picture)
                                           : encode_exr(picture.width, picture.height, 4, picture.rgba));
}

}  // namespace picture
