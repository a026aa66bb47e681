// Any bytes give a scene, which can be rendered, or a scene_error; never a crash.
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "nff.hpp"
#include "renderer.hpp"

using namespace raytrace;

namespace {

std::string const seed =
    "# seed\nb 0.1 0.2 0.3\nv\nfrom 0 -5 1\nat 0 0 0\nup 0 0 1\nangle 40\nhither 1\nresolution 32 20\n"
    "l 1 -2 3\nl 4 -5 6 0.5 0.25 1\nf 1 0.5 0.25 0.8 0.2 30 0.5 1.5\ns 0 0 0 0.5\ns 1 0 0 -0.5\n"
    "f 0 1 0 1 0 0 0 0\nc\n0 0 0 1\n0 0 2 0.5\np 5\n0 0 0\n1 0 0\n1 1 0\n0.5 0.25 0\n0 1 0\n"
    "pp 3\n0 0 0 0 0 2\n1 0 0 0 0 1\n1 1 0 0 1 1\n";

// Parses the text and renders a few pixels with both accelerators. Returns true if it was a scene.
bool survives(std::string const& text) {
  try {
    auto const s = parse_nff(text, "x");
    std::vector<float> rgb(std::size_t{3} * 4 * 4);
    ray_counts counts;
    for (auto const a : {accelerator::bvh, accelerator::slabs}) {
      settings how;
      how.width = how.height = 4;
      how.depth = 3;
      how.accelerator = a;
      renderer(s, how).render_tile(0, 0, 4, 4, rgb, counts);
    }
    return true;
  } catch (scene_error const&) {
    return false;
  }
}

std::string mutated(std::string text, std::mt19937& random) {
  static std::vector<std::string> const words{
      "nan", "inf", "-1", "0", "1e999", "1e15",   "-1e15", "99999999999",       "p",
      "pp",  "v",   "s",  "c", "#",     "1e-300", "\n",    std::string(1, '\0')};
  auto const below = [&random](std::size_t n) { return n == 0 ? 0 : random() % n; };
  for (std::size_t n = 1 + below(4); n > 0; --n) {
    auto const at = below(text.size());
    switch (below(6)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text[at % text.size()] = static_cast<char>(random());
        break;
      case 2:
        text.erase(at, below(8));
        break;
      case 3:
        text.insert(at, words[below(words.size())]);
        break;
      case 4:
        text.insert(at, ' ' + words[below(words.size())] + ' ');
        break;
      default:
        text.insert(at, text.substr(below(text.size()), below(40)));
        break;
    }
    if (text.empty()) text = " ";
  }
  return text;
}

}  // namespace

TEST_CASE("the seed itself is a scene") { CHECK(survives(seed)); }

TEST_CASE("truncations do not crash") {
  for (std::size_t n = 0; n < seed.size(); ++n) (void)survives(seed.substr(0, n));
}

TEST_CASE("mutations do not crash") {
  std::mt19937 random(20261121);
  int scenes = 0;
  for (int i = 0; i < 20000; ++i) scenes += survives(mutated(seed, random)) ? 1 : 0;
  CHECK(scenes > 100);  // mutations do not only break the first line
}

TEST_CASE("binary files are refused") {
  std::mt19937 random(1);
  std::string noise(100000, '\0');
  for (auto& c : noise) c = static_cast<char>(random());
  CHECK_FALSE(survives(noise));
}

TEST_CASE("counts are not trusted: memory follows the bytes") {
  std::string const head = seed.substr(0, seed.find("p 5"));
  CHECK_THROWS_AS(parse_nff(head + "p 9999\n0 0 0\n", "x"), scene_error);
}

TEST_CASE("degenerate polygons are accepted and never hit") {
  std::string const head = seed.substr(0, seed.find("s 0 0 0"));
  CHECK(survives(head + "p 3\n0 0 0\n0 0 0\n0 0 0\n"));
  CHECK(survives(head + "p 4\n0 0 0\n1 0 0\n2 0 0\n3 0 0\n"));
  CHECK(survives(head + "p 4\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n"));         // crosses itself
  CHECK(survives(head + "p 4\n0 0 0\n1 0 1\n1 1 -1\n0 1 5\n"));        // not flat
  CHECK(survives(head + "p 5\n0 0 0\n1 0 0\n1 0 0\n1 1 0\n0 1 0\n"));  // a corner twice
  CHECK(survives(head + "p 3\n-1e15 0 0\n1e15 0 0\n0 1e15 1e15\n s 1e15 1e15 1e15 1e15\n"));
  CHECK(survives(head + "s 0 0 0 1e-15\n"));
  CHECK(survives(head));  // nothing at all
}

TEST_CASE("a polygon of ten thousand corners is cut quickly") {
  std::string text = seed.substr(0, seed.find("s 0 0 0")) + "p 10000\n";
  for (int i = 0; i < 10000; ++i) {  // a star: every other corner is concave
    double const a = i * 6.283185307179586 / 10000, r = i % 2 == 0 ? 1 : 0.9;
    text += std::to_string(r * std::cos(a)) + ' ' + std::to_string(r * std::sin(a)) + " 0\n";
  }
  CHECK(survives(text));
}
