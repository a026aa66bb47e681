#include "base/text.hpp"
#include "catch.hpp"

using skel::detail::one_line;

TEST_CASE("text of hostile files cannot break the line or the terminal") {
  CHECK(one_line("scene.nff:12: polygon needs 3 vertices, found \"2\"") ==
        "scene.nff:12: polygon needs 3 vertices, found \"2\"");
  CHECK(one_line("two\nlines\n") == "two lines");
  CHECK(one_line("\x1b[31mred\x07") == "\\x1b[31mred\\x07");
  CHECK(one_line(std::string(5000, 'x')).size() == 1003);
  CHECK(one_line("").empty());
}
