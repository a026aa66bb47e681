// The available kernels agree to the bit, for any combination of rays.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>

#include "catch.hpp"
#include "small.hpp"

using namespace volume;
using test::even;
using test::grid;
using test::uneven;

namespace {

bool same_bits(rgba const& a, rgba const& b) {
  return std::ranges::equal(std::as_bytes(std::span(&a, 1)), std::as_bytes(std::span(&b, 1)));
}

/// Flags of the processor in Linux's notation; empty on other systems.
std::vector<std::string> processor_flags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("flags")) {
      std::istringstream words(line.substr(line.find(':') + 1));
      return {std::istream_iterator<std::string>(words), {}};
    }
  return {};
}

std::vector<rgba> picture(prepared_volume const& v, specification const& s, camera const& view,
                          std::string const& instructions) {
  renderer const r(v, s, view, instructions);
  std::vector<rgba> pixels(static_cast<std::size_t>(view.width) * static_cast<std::size_t>(view.height));
  work_counts counts;
  for (std::uint64_t t = 0; t < r.tiling().tiles(); ++t) {
    auto const tile = r.tile(t, counts);
    r.tiling().each_pixel(t, [&](int lane, int x, int y) {
      pixels[static_cast<std::size_t>(y * view.width + x)] = tile[static_cast<std::size_t>(lane)];
    });
  }
  return pixels;
}

/// The number of pixels that another kernel renders differently from the portable one, in pictures
/// of various sizes.
std::size_t differences(grid const& g, specification const& s, bool& seen) {
  prepared_volume const v(g, s);
  std::size_t different = 0;
  for (auto const& [width, height] : {std::pair{1, 1}, {5, 3}, {4, 4}, {17, 9}, {50, 37}}) {
    auto const view = make_camera(s, v.low(), v.sides(), width, height);
    auto const expected = picture(v, s, view, "portable");
    seen = seen || std::ranges::any_of(expected, [](rgba const& p) { return p.opacity > 0; });
    for (auto const* k : kernels()) {
      auto const got = picture(v, s, view, k->name);
      for (std::size_t i = 0; i < got.size(); ++i) different += same_bits(got[i], expected[i]) ? 0 : 1;
    }
  }
  return different;
}

grid waves() {
  return test::make_grid({uneven(30, 1), uneven(20, 2), uneven(25, 3)}, [](double x, double y, double z) {
    return std::sin(15 * x + y) + std::cos(13 * y) * z;
  });
}

grid balls() {
  return test::make_grid({even(70), even(60), even(50)}, [](double x, double y, double z) {
    auto const ball = [&](double a, double b, double c) { return 0.1 - std::hypot(x - a, y - b, z - c); };
    return std::max({ball(0.1, 0.2, 0.1), ball(0.9, 0.8, 0.7), ball(0.45, 0.55, 0.5)});
  });
}

/// Eleven knots: their pieces exceed one group of eight.
specification many_knots() {
  specification s;
  s.mapping.relative = true;
  for (int i = 0; i <= 10; ++i) {
    auto const v = 0.1F * static_cast<float>(i);
    s.mapping.color.push_back({v, {v, 1 - v, i % 2 != 0 ? 1.0F : 0.0F}});
    s.mapping.opacity.push_back({v, i % 3 == 0 ? 0.0 : 0.1 * i});
  }
  return s;
}

}  // namespace

TEST_CASE("the kernels match the processor, the fastest first") {
  std::vector<std::string> expected;
#if defined(__x86_64__)
  auto const flags = processor_flags();
  if (flags.empty()) return;  // not Linux: nothing to compare
  auto const has = [&](char const* flag) { return std::ranges::count(flags, flag) > 0; };
  if (has("avx512f") && has("avx512vl") && has("avx512bw") && has("avx512dq")) {
    expected = {"avx512", "avx512-gather"};
    if (has("avx512_fp16")) std::ranges::reverse(expected);
  }
  if (has("avx2")) expected.emplace_back("avx2");
#endif
  expected.emplace_back("portable");
  std::vector<std::string> names;
  for (auto const* k : kernels()) {
    names.emplace_back(k->name);
    CHECK(find_kernel(k->name) == k);
  }
  CHECK(names == expected);
  for (char const* const name : {"avx512", "avx512-gather", "avx2", "portable", "avx", ""})
    CHECK((find_kernel(name) != nullptr) == (std::ranges::count(expected, name) > 0));

  auto const g = waves();
  specification const s;
  prepared_volume const v(g, s);
  auto const view = make_camera(s, v.low(), v.sides(), 8, 8);
  CHECK_THROWS_WITH(renderer(v, s, view, "mmx"), "--instructions: not available on this processor: \"mmx\"");
}

TEST_CASE("all kernels give the same bytes for pictures of any size") {
  bool seen = false;
  specification s;
  SECTION("plain") { CHECK(differences(waves(), s, seen) == 0); }
  SECTION("rays that end early") {
    s.visibility_limit = 0.6;
    s.mapping.unit = 1e-3;
    CHECK(differences(waves(), s, seen) == 0);
  }
  SECTION("many bends, many knots") {
    s = many_knots();
    s.tolerance = 1e-5;
    CHECK(differences(waves(), s, seen) == 0);
  }
  SECTION("jumps in opacity") {
    s = many_knots();
    s.mapping.opacity.push_back({1, 9});
    CHECK(differences(waves(), s, seen) == 0);
    s.light = light_spec{};
    CHECK(differences(waves(), s, seen) == 0);
  }
  SECTION("light and attenuation") {
    s.light = light_spec{};
    s.attenuation.density = 1;
    CHECK(differences(waves(), s, seen) == 0);
  }
  SECTION("light, one sample in a cell") {
    s.light = light_spec{vec3{1, 2, 3}, 0.3, 0.6, 0.3, 8, 1};
    CHECK(differences(waves(), s, seen) == 0);
  }
  SECTION("parallel rays along an axis, in faces of cells") {
    s.view.parallel = true;
    s.view.elevation = 90;
    CHECK(differences(balls(), s, seen) == 0);
  }
  SECTION("from inside") {
    s.view.distance = 0.2;
    CHECK(differences(waves(), s, seen) == 0);
  }
  SECTION("large empty regions") {
    s = test::with_mapping({{0, {1, 0.5F, 0.25F}}}, {{0, 0}, {0.05, 60}});
    CHECK(differences(balls(), s, seen) == 0);
    s.light = light_spec{};
    CHECK(differences(balls(), s, seen) == 0);
  }
  SECTION("the smallest grid, and missing values") {
    CHECK(differences(test::make_grid({even(2), even(2), even(2)},
                                      [](double x, double y, double z) { return x + y * z; }),
                      s, seen) == 0);
    auto g = waves();
    auto const missing = std::nan("");
    for (std::size_t i = 0; i < g.header.samples(); i += 97)
      std::memcpy(g.values.data() + sizeof missing * i, &missing, sizeof missing);
    CHECK(differences(g, s, seen) == 0);
  }
  CHECK(seen);
}

TEST_CASE("a ray gains the same bits alone and with others") {
  auto const g = waves();
  auto s = test::with_mapping({{-2, {0, 0.5F, 1}}, {0, {1, 1, 0}}, {2, {1, 0.25F, 0}}},
                              {{-1, 0}, {-0.5, 6}, {-0.2, 0}, {0.2, 0}, {0.5, 15}, {0.7, 3}, {0.9, 1}});
  s.visibility_limit = 0.99;
  SECTION("plain") {}
  SECTION("many bends") { s.tolerance = 1e-5; }
  SECTION("jumps in opacity") { s.mapping.opacity.push_back({0.9, 8}); }
  SECTION("light") { s.light = light_spec{}; }
  SECTION("light, one sample in a cell") { s.light = light_spec{vec3{1, 2, 3}, 0.3, 0.6, 0.3, 8, 1}; }
  prepared_volume const v(g, s);
  auto const view = make_camera(s, v.low(), v.sides(), 50, 37);
  for (auto const* k : kernels()) {
    renderer const r(v, s, view, k->name);
    work_counts counts;
    int different = 0;
    for (std::uint64_t tile = 0; tile < r.tiling().tiles(); ++tile) {
      auto const pixels = r.tile(tile, counts);
      r.tiling().each_pixel(tile, [&](int lane, int x, int y) {
        auto const alone = r.along(view.through(x + 0.5, y + 0.5), counts);
        if (!same_bits(alone, pixels[static_cast<std::size_t>(lane)])) ++different;
      });
    }
    INFO(k->name);
    CHECK(different == 0);
  }
}
