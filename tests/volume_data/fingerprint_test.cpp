#include "fingerprint.hpp"

#include <filesystem>
#include <fstream>

#include "catch.hpp"
#include "field.hpp"
#include "files.hpp"

using namespace volume_data;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

// 100 slices of 1 MiB, zero except for the byte `at`: a sparse file that occupies no space.
std::string large_volume(test::folder const& in, std::size_t at) {
  auto const name = "large-" + std::to_string(at) + ".raw";
  in.write(name + ".json", R"({ "type": "uint8", "size": [1024, 1024, 100] })");
  auto const path = in.write(name, "");
  std::filesystem::resize_file(path, 100 * mebibyte);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(1);
  return path;
}

std::string fingerprint_of(std::string const& path) { return fingerprint(*open_volume(path)); }

}  // namespace

TEST_CASE("a small volume has the same fingerprint from file and from memory") {
  auto const whole = fingerprint(read_grid(*open_field("sphere:9x8x7")));
  CHECK(fingerprint(*open_field("sphere:9x8x7")) == whole);
  CHECK(fingerprint(*open_field("sphere:9x7x8")) != whole);
  CHECK(fingerprint(*open_field("linear:9x8x7")) != whole);
}

TEST_CASE("the fingerprint of a large volume samples slices throughout, including the last") {
  test::folder const in("volume-fingerprint");
  auto const first = fingerprint_of(large_volume(in, 0));
  CHECK(first == fingerprint_of(large_volume(in, 0)));
  CHECK(first != fingerprint_of(large_volume(in, 100 * mebibyte - 1)));
  // At least one of neighbouring slices is sampled.
  auto const middle = fingerprint_of(large_volume(in, 50 * mebibyte));
  auto const next = fingerprint_of(large_volume(in, 51 * mebibyte));
  CHECK(middle != next);
}
