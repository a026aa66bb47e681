#include "image.hpp"

#include <png.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "catch.hpp"
#include "skel/error.hpp"

using namespace picture;
namespace fs = std::filesystem;

namespace {

image gradient() {
  image picture(3, 2);
  float const values[] = {0, 0.5F, 1, -1, 2, 0.25F, 0.1F, 0.2F, 0.3F, 0, 0, 0, 1, 1, 1, 0.75F, 0, 1};
  std::copy(std::begin(values), std::end(values), picture.rgb.begin());
  return picture;
}

std::vector<unsigned char> const bytes_of_gradient{0, 128, 255, 0,   255, 64,  26,  51, 77,
                                                   0, 0,   0,   255, 255, 255, 191, 0,  255};

std::string text(std::vector<std::byte> const& bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("PPM") {
  std::string const expected =
      "P6\n3 2\n255\n" + std::string(bytes_of_gradient.begin(), bytes_of_gradient.end());
  CHECK(text(encode_ppm(gradient())) == expected);
}

TEST_CASE("PFM stores rows from below, little endian") {
  auto const s = text(encode_pfm(gradient()));
  std::string const head = "PF\n3 2\n-1.0\n";
  REQUIRE(s.size() == head.size() + std::size_t{18} * 4);
  CHECK(s.substr(0, head.size()) == head);
  CHECK(s.substr(head.size(), 12) == std::string(12, '\0'));                       // lower row, first pixel
  CHECK(s.substr(head.size() + 12, 4) == std::string("\x00\x00\x80\x3f", 4));      // 1.0
  CHECK(s.substr(head.size() + 36 + 4, 4) == std::string("\x00\x00\x00\x3f", 4));  // upper row: 0.5
}

TEST_CASE("PNG is readable by libpng") {
  auto const bytes = encode_png(gradient());
  png_image header;
  std::memset(&header, 0, sizeof header);
  header.version = PNG_IMAGE_VERSION;
  REQUIRE(png_image_begin_read_from_memory(&header, bytes.data(), bytes.size()) != 0);
  CHECK(header.width == 3);
  CHECK(header.height == 2);
  header.format = PNG_FORMAT_RGB;
  std::vector<unsigned char> pixels(18);
  REQUIRE(png_image_finish_read(&header, nullptr, pixels.data(), 0, nullptr) != 0);
  CHECK(pixels == bytes_of_gradient);
}

TEST_CASE("NaN is black") {
  image picture(1, 1);
  picture.rgb = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 0};
  CHECK(text(encode_ppm(picture)) == std::string("P6\n1 1\n255\n\x00\xff\x00", 14));
}

TEST_CASE("formats by extension") {
  auto const folder = fs::temp_directory_path() / "skel-image-test";
  fs::create_directories(folder);
  for (auto const* const name : {"a.png", "a.ppm", "a.pfm"}) {
    auto const path = (folder / name).string();
    write_image(path, gradient());
    std::ifstream in(path, std::ios::binary);
    std::string const written{std::istreambuf_iterator<char>(in), {}};
    CHECK(written == text(path.ends_with("png")   ? encode_png(gradient())
                          : path.ends_with("ppm") ? encode_ppm(gradient())
                                                  : encode_pfm(gradient())));
  }
  CHECK(std::distance(fs::directory_iterator(folder), {}) == 3);  // no temporary file is left
  fs::remove_all(folder);
  CHECK_THROWS_WITH(write_image("x.jpg", gradient()),
                    "x.jpg: unknown extension; known: .png, .ppm, .pfm, .exr");
  CHECK_THROWS_AS(write_image("/nonexistent/x.png", gradient()), skel::error);
}
