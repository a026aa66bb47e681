// Rays through slabs of a grid end with the same bits as rays through the whole grid.
#include <cstring>
#include <limits>

#include "catch.hpp"
#include "slabs.hpp"
#include "small.hpp"

namespace {

using namespace volume;
using test::grid;

grid planes_of(grid const& g, slab const& part) {
  grid some = g;
  auto const first = part.first_plane(), end = part.end_plane(g.header.size[2]);
  some.header.size[2] = end - first;
  auto const& z = g.header.coordinates[2];
  some.header.coordinates[2] = {z.begin() + static_cast<std::ptrdiff_t>(first),
                                z.begin() + static_cast<std::ptrdiff_t>(end)};
  auto const bytes = static_cast<std::ptrdiff_t>(g.header.slice_bytes());
  some.values = {g.values.begin() + static_cast<std::ptrdiff_t>(first) * bytes,
                 g.values.begin() + static_cast<std::ptrdiff_t>(end) * bytes};
  return some;
}

whole_grid what_slabs_know(grid const& g, prepared_volume const& whole) {
  range_finder finder;
  for (std::size_t z = 0; z < g.header.size[2]; ++z)
    for (std::size_t y = 0; y < g.header.size[1]; ++y)
      for (std::size_t x = 0; x < g.header.size[0]; ++x) {
        double const v = g.at(x, y, z);
        finder.add({&v, 1});
      }
  auto const [least, most, has_values] = finder.result();
  auto const& v = whole.view();
  return {g.header.coordinates, least, most, has_values, std::to_array(v.box_low), std::to_array(v.box_high)};
}

std::vector<rgba> whole_picture(prepared_volume const& volume, specification const& spec, camera const& view,
                                std::string const& instructions = "") {
  renderer const r(volume, spec, view, instructions);
  std::vector<rgba> pixels;
  work_counts counts;
  for (std::uint64_t t = 0; t < r.tiling().tiles(); ++t)
    for (auto const& p : r.tile(t, counts)) pixels.push_back(p);
  return pixels;
}

/// `kernels`: used for the slabs in turn, as by ranks with different processors.
std::vector<rgba> in_slabs(grid const& g, whole_grid const& known, specification const& spec,
                           camera const& view, std::vector<double> const& planes, std::size_t count,
                           std::vector<kernel const*> const& kernels) {
  auto const slabs = cut_into_slabs(g.header.size[2] - 1, count);
  std::vector<tile_state> states(tiling(view.width, view.height).tiles());
  work_counts counts;
  for (auto const s : front_to_back(slabs, planes, view)) {
    prepared_volume const part(planes_of(g, slabs[s]), spec, known, slabs[s]);
    renderer const r(part, spec, view, kernels[s % kernels.size()]->name);
    for (std::uint64_t t = 0; t < states.size(); ++t) r.take_through(t, states[t], counts);
  }
  std::vector<rgba> pixels;
  for (auto const& state : states)
    for (auto const& p : pixels_of(state)) pixels.push_back(p);
  return pixels;
}

bool same_bits(std::vector<rgba> const& a, std::vector<rgba> const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(rgba)) == 0;
}

grid noisy(unsigned seed) {
  std::mt19937 random(seed);
  auto g = test::make_grid(
      {test::uneven(13, seed), test::even(11), test::uneven(18, seed + 1, 0, 0.8)},
      [&](double x, double y, double z) {
        double const hill = std::exp(-20 * ((x - 0.4) * (x - 0.4) + (y - 0.6) * (y - 0.6)));
        return hill * (1 + std::sin(9 * z)) + 0.05 * static_cast<double>(random() % 1000) / 1000;
      });
  double const missing = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t k = 0; k < 5; ++k)
    std::memcpy(g.values.data() + sizeof missing * (random() % g.header.samples()), &missing, sizeof missing);
  return g;
}

void compare(grid const& g, specification const& spec) {
  prepared_volume const whole(g, spec);
  auto const known = what_slabs_know(g, whole);
  auto const view = make_camera(spec, whole.low(), whole.sides(), 37, 29);
  auto const expected = whole_picture(whole, spec, view);
  CHECK(same_bits(expected, whole_picture(whole, spec, view, "portable")));
  auto const rendered = [&](std::size_t count, std::vector<kernel const*> const& by) {
    return in_slabs(g, known, spec, view, whole.planes()[2], count, by);
  };
  for (std::size_t const count : {1, 2, 3, 7, 17}) CHECK(same_bits(expected, rendered(count, kernels())));
  for (auto const* k : kernels()) CHECK(same_bits(expected, rendered(3, {k})));
}

}  // namespace

TEST_CASE("slabs change no bit, from any viewpoint") {
  auto spec = test::with_mapping({{0, {1, 0, 0}}, {0.5, {0, 1, 0}}, {2, {0, 0, 1}}},
                                 {{0.3, 0}, {0.4, 3}, {0.8, 0.5}, {1.5, 30}});
  bool lit = false;
  for (double const elevation : {-90.0, -40.0, 0.0, 25.0, 90.0})
    for (double const distance : {0.01, 0.3, 1.6}) {  // the first two eyes are inside
      spec.view.elevation = elevation;
      spec.view.distance = distance;
      spec.view.parallel = !spec.view.parallel;
      spec.light = (lit = !lit) ? std::optional(light_spec{}) : std::nullopt;
      spec.attenuation.density = distance;
      spec.visibility_limit = distance < 0.1 ? 1 : 0.95;
      compare(noisy(static_cast<unsigned>(elevation + 100)), spec);
    }
  spec.mapping.opacity.push_back({1.5, 8});  // a jump
  compare(noisy(1), spec);
  spec.light.reset();
  compare(noisy(1), spec);
}

TEST_CASE("slabs change no bit along edges and through corners") {
  auto const cube = test::make_grid({test::even(9), test::even(9), test::even(9)},
                                    [](double x, double y, double z) { return x + y + z; });
  auto spec = test::with_mapping({{0, {1, 1, 0}}, {3, {0, 1, 1}}}, {{0, 1}, {3, 2}});
  spec.view.at = vec3{0.5, 0.5, 0.5};
  for (vec3 const& from : {vec3{0.5, 0.5, 3}, vec3{3, 0.5, 0.5}, vec3{3, 3, 3}, vec3{-2, -2, -2},
                           vec3{0.5, 3, 3}, vec3{0.5, -2, -2}})
    for (bool const parallel : {false, true}) {
      spec.view.from = from;
      spec.view.up = {0, 1, 0.1};
      spec.view.parallel = parallel;
      spec.view.height = 1;
      compare(cube, spec);
    }
}

TEST_CASE("slabs change no bit of an empty and of a sparse volume") {
  auto const sphere =
      test::make_grid({test::even(40), test::even(40), test::even(40)},
                      [](double x, double y, double z) { return std::hypot(x - 0.3, y - 0.7, z - 0.8); });
  auto spec = test::with_mapping({{0, {1, 1, 1}}}, {{0.1, 40}, {0.12, 0}});
  compare(sphere, spec);  // most cells are skipped
  spec = test::with_mapping({{0, {1, 1, 1}}}, {{-2, 1}, {-1, 0}});
  compare(sphere, spec);
}

TEST_CASE("cuts are even and fit into the permitted memory") {
  for (std::size_t const layers : {1, 2, 17, 100})
    for (std::size_t const count : {1, 2, 3, 17, 1000}) {
      auto const slabs = cut_into_slabs(layers, count);
      CHECK(slabs.size() == std::min(layers, count));
      std::size_t at = 0;
      for (auto const& s : slabs) {
        CHECK(s.first == at);
        CHECK(s.layers() >= layers / slabs.size());
        CHECK(s.layers() <= (layers + slabs.size() - 1) / slabs.size());
        at = s.end;
      }
      CHECK(at == layers);
    }
  volume_data::volume_header header;
  header.name = "v";
  header.size = {100, 100, 101};
  CHECK(slabs_for_memory(header, std::size_t{1} << 30, false) == 1);
  auto const count = slabs_for_memory(header, std::size_t{1} << 21, false);
  CHECK(2 * slab_memory(header, (100 + count - 1) / count, false) <= std::size_t{1} << 21);
  CHECK(count < 100);
  CHECK_THROWS_WITH(slabs_for_memory(header, 1000, true),
                    "v: two layers of cells need 2090000 bytes of memory, found 1000");
}
