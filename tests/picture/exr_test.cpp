// OpenEXR files, read back by code written from the format's specification.
#include "exr.hpp"

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <string>

#include "catch.hpp"
#include "image.hpp"
#include "skel/error.hpp"

namespace {

static_assert(std::endian::native == std::endian::little);  // as the files

class reader {
 public:
  explicit reader(std::string const& path) {
    std::ifstream in(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, bytes_.substr(at_, sizeof value).data(), sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text() {
    auto const end = bytes_.find('\0', at_);
    auto value = block(end - at_);
    ++at_;
    return value;
  }
  std::string block(std::size_t size) {
    REQUIRE(at_ + size <= bytes_.size());
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool ended() const { return at_ == bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

std::string channel(char name) {  // 32-bit floats, one sample per pixel
  return {name, '\0', 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
}

/// The floats of a file of one part in uncompressed lines. `names`: its channels.
std::vector<float> read_exr(std::string const& path, int width, int height, std::string const& names) {
  reader in(path);
  CHECK(in.number<std::uint32_t>() == 20000630);
  CHECK(in.number<std::uint32_t>() == 2);
  std::map<std::string, std::string> header;
  for (auto name = in.text(); !name.empty(); name = in.text()) {
    name += ' ';
    name += in.text();
    header[name] = in.block(in.number<std::uint32_t>());
  }
  CHECK(header["compression compression"] == std::string(1, '\0'));
  CHECK(header["lineOrder lineOrder"] == std::string(1, '\0'));  // from the top
  std::array<std::int32_t, 4> const window{0, 0, width - 1, height - 1};
  CHECK(header["dataWindow box2i"] ==
        std::string(reinterpret_cast<char const*>(window.data()), sizeof window));
  CHECK(header["displayWindow box2i"] == header["dataWindow box2i"]);
  std::string channels;
  auto sorted = names;
  std::ranges::sort(sorted);
  for (char const name : sorted) channels += channel(name);
  channels += '\0';
  CHECK(header["channels chlist"] == channels);

  std::vector<std::uint64_t> lines(static_cast<std::size_t>(height));
  for (auto& line : lines) line = in.number<std::uint64_t>();
  auto const count = names.size(), across = static_cast<std::size_t>(width);
  std::vector<float> pixels(count * across * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y) {
    CHECK(in.at() == lines[static_cast<std::size_t>(y)]);
    CHECK(in.number<std::int32_t>() == y);
    CHECK(in.number<std::uint32_t>() == count * across * sizeof(float));
    for (char const name : sorted)
      for (std::size_t x = 0; x < across; ++x)
        pixels[(static_cast<std::size_t>(y) * across + x) * count + names.find(name)] = in.number<float>();
  }
  CHECK(in.ended());
  return pixels;
}

std::vector<float> floats(std::size_t count) {
  std::mt19937 random(7);
  std::vector<float> all(count);
  for (auto& v : all) v = static_cast<float>(random()) / 1e9F - 2;  // also beyond 0 and 1
  all[1] = std::numeric_limits<float>::denorm_min();
  all[count - 1] = std::numeric_limits<float>::infinity();
  return all;
}

}  // namespace

TEST_CASE("EXR keeps the floats of colours and opacity") {
  auto const path = (std::filesystem::temp_directory_path() / "skel-exr-test.exr").string();
  picture::transparent_image with_opacity(5, 3);
  with_opacity.rgba = floats(60);
  picture::image without(3, 4);
  without.rgb = floats(36);
  if (!picture::has_exr()) {
    CHECK_THROWS_WITH(write_image(path, without),
                      path + ": this program was built without OpenEXR (SKEL_OPENEXR)");
    return;
  }
  write_image(path, with_opacity);
  CHECK(read_exr(path, 5, 3, "RGBA") == with_opacity.rgba);
  write_image(path, without);
  CHECK(read_exr(path, 3, 4, "RGB") == without.rgb);
  std::filesystem::remove(path);
}

TEST_CASE("formats without opacity are refused") {
  for (std::string const path : {"a.pfm", "a.ppm"})
    CHECK_THROWS_WITH(write_image(path, picture::transparent_image(1, 1)),
                      path + ": the format has no opacity, expected .png or .exr");
}
