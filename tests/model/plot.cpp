#include "skel/model/plot.hpp"

#include <cmath>
#include <string_view>

#include "catch.hpp"
#include "model_support.hpp"

using namespace skel::model;

namespace {

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("points, lines and labels are drawn") {
  plot const p{"a < b & c", "x", "y", true, true, true, {{"one", {{1, 2}, {10, 30}, {100, 50}}, true, true}}};
  auto const svg = p.to_svg();
  CHECK(svg.starts_with("<svg "));
  CHECK(count(svg, "<circle") == 3);
  CHECK(count(svg, "<polyline") == 1);
  CHECK(count(svg, "stroke-dasharray") == 1);
  CHECK(svg.find("a &lt; b &amp; c") != std::string::npos);
  CHECK(count(svg, "<g ") == count(svg, "</g>"));
}

TEST_CASE("points that cannot be drawn are skipped") {
  plot const p{"t",
               "x",
               "y",
               true,
               true,
               false,
               {{"s", {{0, 1}, {-1, 1}, {1, NAN}, {1, HUGE_VAL}, {2, 3}}, true, true}}};
  auto const svg = p.to_svg();
  CHECK(count(svg, "<circle") == 1);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("inf") == std::string::npos);
  CHECK(plot{}.to_svg().find("nan") == std::string::npos);
  CHECK(plot{.data = {{"flat", {{0, 0}, {0, 0}}, true, true}}}.to_svg().find("nan") == std::string::npos);
}
