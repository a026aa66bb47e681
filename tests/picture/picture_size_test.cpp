#include "picture_size.hpp"

#include <string>

#include "catch.hpp"
#include "skel/error.hpp"

using picture::parse_size;

TEST_CASE("a size is two lengths in pixels") {
  auto const size = parse_size("640x480", "--size");
  CHECK(size.width == 640);
  CHECK(size.height == 480);
  CHECK(parse_size("1x65536", "--size").height == 65536);
}

TEST_CASE("other text gives an error with the option and the text") {
  for (std::string const text : {"", "x", "8", "8x", "x8", "0x8", "8x0", "-8x8", "8x-8", "65537x8", "8x65537",
                                 "99999999999x8", "8x8x8", "8x8 ", " 8x8", "8 x 8", "8X8", "8.5x8", "axb"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_size(text, "--size"), skel::usage_error);
  }
  std::string said;
  try {
    static_cast<void>(parse_size("32", "--preview-size"));
  } catch (skel::usage_error const& bad) {
    said = bad.what();
  }
  CHECK(said == "--preview-size: expected WIDTHxHEIGHT, each 1 to 65536, found \"32\"");
}
