// Tasks, views, mappings, specifications, statistics.

#include "background.hpp"
#include "catch.hpp"
#include "field.hpp"
#include "files.hpp"
#include "ray_statistics.hpp"
#include "small.hpp"
#include "tiles.hpp"
#include "verify.hpp"

using namespace volume;

TEST_CASE("every pixel belongs to one task") {
  using kind = task_cutter::decomposition;
  for (auto const how : {kind::scattered, kind::blocks})
    for (auto const& [w, h, pixels] :
         {std::tuple{261, 209, 250}, {1, 1, 250}, {5, 3, 1}, {37, 11, 100000}, {64, 64, 16}}) {
      task_cutter const cut(w, h, how, pixels);
      tiling const tiles(w, h);
      std::vector<int> seen(static_cast<std::size_t>(w) * static_cast<std::size_t>(h));
      for (std::uint64_t task = 0; task < cut.tasks(); ++task)
        cut.each_tile(task, [&](std::uint64_t tile) {
          tiles.each_pixel(tile, [&](int, int x, int y) { ++seen[static_cast<std::size_t>(y * w + x)]; });
        });
      INFO(w << 'x' << h << " pixels " << pixels);
      CHECK(std::ranges::count(seen, 1) == std::ssize(seen));
    }
  // as in the paper: 54,549 pixels in tasks of 250
  CHECK(task_cutter(261, 209, kind::scattered, 250).tasks() == 219);
  CHECK_THROWS(task_cutter::named("stripes"));
}

TEST_CASE("views: the middle of the picture shows `at`; projection inverts a ray") {
  specification s;
  for (bool const parallel : {false, true}) {
    s.view.parallel = parallel;
    for (double const elevation : {-90.0, 0.0, 35.0, 90.0}) {
      s.view.elevation = elevation;
      auto const c = make_camera(s, {0, 0, 0}, {4, 3, 2}, 64, 48, 30);
      double x = 0, y = 0;
      REQUIRE(c.project({2, 1.5, 1}, x, y));
      CHECK(x == Approx(32));
      CHECK(y == Approx(24));
      auto const ray = c.through(10.5, 7.5);
      REQUIRE(c.project(add(ray.from, 3, ray.direction), x, y));
      CHECK(x == Approx(10.5));
      CHECK(y == Approx(7.5));
    }
  }
  s.view.from = vec3{1, 1, 1};
  s.view.at = vec3{1, 1, 1};
  CHECK_THROWS(make_camera(s, {0, 0, 0}, {1, 1, 1}, 8, 8));
}

TEST_CASE("the pieces of a mapping represent its functions") {
  mapping_spec spec{{{10, {0, 0, 0}}, {20, {1, 0, 0}}, {20, {0, 1, 0}}, {40, {0, 1, 1}}},
                    {{5, 0}, {15, 2}, {15, 1}, {30, 4}},
                    2.0,
                    false};
  mapping const m(spec, 0, 100, 2);
  auto const at = [&](double value) {
    auto const s = static_cast<float>(m.scaled(value));
    for (auto const& p : m.pieces())
      if (s < p.upper) return std::pair{p.k0 + p.k1 * (s - p.knot), p.c0[1] + p.c1[1] * (s - p.knot)};
    return std::pair{-1.0F, -1.0F};
  };
  CHECK(at(-50).first == 0);
  CHECK(at(10).first == Approx(0.5));  // 1 per two units of length
  CHECK(at(14.999).first == Approx(1).epsilon(1e-3));
  CHECK(at(15.001).first == Approx(0.5).epsilon(1e-3));
  CHECK(at(99).first == Approx(2));
  CHECK(at(19.9).second == 0);
  CHECK(at(20.1).second == 1);
  CHECK_FALSE(m.visible(static_cast<float>(m.scaled(-9)), static_cast<float>(m.scaled(4.9))));
  CHECK(m.visible(static_cast<float>(m.scaled(-9)), static_cast<float>(m.scaled(5.1))));
}

TEST_CASE("verify accepts jumps in opacity in every field, and finds a wrong pixel") {
  using knots = std::vector<mapping_spec::opacity_knot>;
  auto const render = [](volume_data::grid const& g, prepared_volume const& v, specification const& s,
                         bool wrong) {
    auto const view = make_camera(s, v.low(), v.sides(), 24, 20);
    renderer const r(v, s, view);
    work_counts counts;
    picture::transparent_image made(24, 20);
    for (std::uint64_t tile = 0; tile < r.tiling().tiles(); ++tile) {
      auto const pixels = r.tile(tile, counts);
      r.tiling().each_pixel(tile, [&](int lane, int x, int y) {
        auto const got = test::numbers(pixels[static_cast<std::size_t>(lane)]);
        for (std::size_t c = 0; c < 4; ++c)
          made.rgba[4 * static_cast<std::size_t>(24 * y + x) + c] = static_cast<float>(got[c]);
      });
    }
    if (wrong) made.rgba[4 * (24 * 10 + 12)] += 0.012F;  // twice the tolerance
    verify(g, v, s, view, made);
  };
  for (auto const* const field :
       {"wind:31x25x9", "wind:31x25x9@30", "homogeneous:9x9x9", "linear:9x9x9", "marschner-lobb:24x24x24",
        "metaballs:24x24x24", "turbulence:20x20x20", "sphere:9x9x9", "sphere:33x33x33"})
    for (auto const& opacity :
         {knots{{0.5, 0}, {0.5, 10}, {1, 10}}, knots{{0.45, 0}, {0.45, 5}, {0.55, 5}, {0.55, 0}},
          knots{{0.4, 0}, {0.4, 1000}},
          knots{{0.2, 0}, {0.2, 0.5}, {0.4, 0.5}, {0.4, 2}, {0.6, 2}, {0.6, 8}, {0.8, 8}, {0.8, 0}},
          knots{{0.3, 0},
                {0.3, 50},
                {0.302, 50},
                {0.302, 0},
                {0.7, 0},
                {0.7, 100},
                {0.701, 100},
                {0.701, 0}}}) {
      specification s;
      s.mapping.relative = true;
      s.mapping.color = {{0, {0.1F, 0.2F, 0.8F}}, {0.5, {0.9F, 0.9F, 0.5F}}, {1, {0.8F, 0.1F, 0.1F}}};
      s.mapping.opacity = opacity;
      auto const g = volume_data::read_grid(*volume_data::open_field(field));
      prepared_volume const v(g, s);
      INFO(field << ", extinction from " << opacity[1].extinction);
      CHECK_NOTHROW(render(g, v, s, false));
      CHECK_THROWS_AS(render(g, v, s, true), skel::error);
    }
}

TEST_CASE("specifications: values and errors") {
  auto const s =
      parse_specification(R"({"view": {"projection": "parallel", "height": 3}, "light": {"diffuse": 0.5},
    "mapping": {"color": [[0, "#ff0080"]], "opacity": [[0, 0], [1, 2]], "relative": true}, "background": "none", "size": [20, 10]})",
                          "x");
  CHECK(s.view.parallel);
  CHECK(s.light->diffuse == 0.5);
  CHECK(s.mapping.color[0].color[2] == Approx(128.0 / 255));
  CHECK(s.background.what == background_spec::kind::none);
  CHECK(s.width == 20);
  CHECK_NOTHROW(parse_specification(storm_specification(), "storm"));
  auto const wrong = [](char const* json) {
    return test::message_of([&] { static_cast<void>(parse_specification(json, "x.json")); });
  };
  CHECK(wrong(R"({"lihgt": {}})") ==
        "x.json: unknown key \"lihgt\"; known: view, stretch, mapping, light, attenuation, visibility_limit, "
        "rule, tolerance, "
        "background, frame, size");
  CHECK(wrong(R"({"view": {"angle": 200}})") ==
        "x.json: view.angle: expected a number from 0.001 to 179, found 200");
  CHECK(test::contains(wrong(R"({"mapping": {"color": [[0, "red"]], "opacity": [[0, 1]]}})"),
                       "expected a colour \"#rrggbb\""));
  CHECK(test::contains(wrong(R"({"mapping": {"color": [[0, [1, 1, 1]]], "opacity": [[2, 1], [1, 1]]}})"),
                       "do not decrease"));
  CHECK(test::contains(wrong(R"({"rule": "simpson"})"), "expected \"exact\" or \"trapezoid\""));
  CHECK(test::contains(wrong("{"), "x.json:1: not JSON: syntax error"));
  CHECK(test::contains(wrong(R"({"size": [20.5, 10]})"),
                       "size[0]: expected a whole number from 1 to 65536, found 20.5"));
  CHECK(test::contains(wrong(R"({"light": {"samples": 1.5}})"),
                       "light.samples: expected a whole number from 1 to 16, found 1.5"));
  CHECK(test::contains(wrong(R"({"tolerance": 0.1, "tolerance": 0.01})"),
                       "x.json: not JSON: tolerance is there twice"));
  CHECK(test::contains(wrong(R"({"view": {"from": [1, 2, 3], "azimuth": 5}})"),
                       "expected \"from\" or \"azimuth\""));
  CHECK(test::contains(wrong(R"({"view": {"height": 5}})"), "found height in a perspective view"));
  CHECK(test::contains(wrong(R"({"view": {"projection": "parallel", "angle": 5}})"),
                       "found angle in a parallel view"));
}

TEST_CASE("backgrounds: a colour, a stretched picture, a map, a frame; composition with the volume") {
  test::folder const in("volume-background");
  picture::image small(2, 1);
  small.rgb = {1, 0, 0, 0, 0, 1};
  write_image(in.path("a.png"), small);
  specification s;
  s.background = {background_spec::kind::image, {}, in.path("a.png")};
  vec3 const sides{4, 3, 2};
  auto const view = make_camera(s, {0, 0, 0}, sides, 40, 30);
  auto const stretched = background(s, sides).behind(view);
  CHECK(stretched.rgb[0] == 1);
  CHECK(stretched.rgb[3 * 39 + 2] == 1);
  s.background = {background_spec::kind::color, {0.25F, 0.5F, 0.75F}, {}};
  s.frame = rgb{1, 1, 1};
  auto const framed = background(s, sides).behind(view);
  CHECK(framed.rgb[1] == 0.5F);
  CHECK(std::ranges::count(framed.rgb, 1.0F) > 100);
  s.background.what = background_spec::kind::map;
  auto const map = background(s, sides).behind(view);
  CHECK(map.rgb != framed.rgb);
  s.background = {background_spec::kind::image, {}, in.path("none.png")};
  CHECK(test::contains(test::message_of([&] { background(s, sides); }), "none.png: "));

  picture::transparent_image front(1, 1);
  front.rgba = {0.25F, 0, 0, 0.5F};
  picture::image behind(1, 1);
  behind.rgb = {1, 1, 0};
  CHECK(over(front, behind).rgb == std::vector<float>{0.75F, 0.5F, 0});
}

TEST_CASE("ray statistics") {
  std::vector<ray_time> const rays{{1, 1}, {4, 1}, {2, 1}, {9, 0}, {3, 1}};
  auto const hit = summarize(rays, true), missed = summarize(rays, false);
  CHECK(hit.rays == 4);
  CHECK(hit.least == 1);
  CHECK(hit.most == 4);
  CHECK(hit.median == 2.5);
  CHECK(hit.mean == 2.5);
  CHECK(hit.deviation == Approx(1.2909944));
  CHECK(missed.mean == 9);
  CHECK(missed.deviation == 0);
  CHECK(summarize({}, true).rays == 0);
}
