// Parses NFF.txt of SPD 3.x, entity by entity. Counts in the file are not trusted: vertices are
// read one by one, so memory follows the bytes that exist.
#include <algorithm>
#include <array>

#include "nff.hpp"
#include "nff_tokens.hpp"
#include "program/input_file.hpp"
#include "program/text.hpp"

namespace raytrace {

namespace {

constexpr int most_vertices = 10000;  // ear clipping takes quadratic time

bool is_entity(std::string_view word) {
  constexpr std::array<std::string_view, 8> entities{"v", "b", "l", "f", "s", "c", "p", "pp"};
  return std::find(entities.begin(), entities.end(), word) != entities.end();
}

class nff_reader {
 public:
  nff_reader(std::string_view text, std::string const& name) : tokens_(text, name) { scene_.name = name; }

  scene read() {
    while (!tokens_.at_end()) entity();
    if (!has_view_) tokens_.fail("a scene needs a view, found no \"v\"");
    return std::move(scene_);
  }

 private:
  void entity() {
    auto const word = tokens_.word();
    if (word == "v") return read_view();
    if (word == "b") return read_background();
    if (word == "l") return read_light();
    if (word == "f") return read_fill();
    if (word == "s") return read_sphere();
    if (word == "c") return read_cone();
    if (word == "p") return read_polygon(false);
    if (word == "pp") return read_polygon(true);
    tokens_.fail_at_word("a scene", "one of v b l f s c p pp here");
  }

  void read_view() {
    if (has_view_) tokens_.fail_at_word("a scene", "one view");
    tokens_.advance();
    bool from = false, at = false, up = false, angle = false, hither = false, resolution = false;
    auto& v = scene_.view;
    for (;;) {
      auto const word = tokens_.word();
      if (word == "from") {
        v.from = view_triple(from);
      } else if (word == "at") {
        v.at = view_triple(at);
      } else if (word == "up") {
        v.up = view_triple(up);
      } else if (word == "angle") {
        once(angle);
        tokens_.advance();
        v.angle = tokens_.number("angle", "a number of degrees");
      } else if (word == "hither") {
        once(hither);
        tokens_.advance();
        v.hither = tokens_.number("hither", "a number");
      } else if (word == "resolution") {
        once(resolution);
        tokens_.advance();
        v.width = tokens_.integer("resolution", "a width of 1 to 65536", 1, 65536);
        v.height = tokens_.integer("resolution", "a height of 1 to 65536", 1, 65536);
      } else {
        break;
      }
    }
    if (!(from && at && up && angle && resolution)) {
      tokens_.fail_at_word("view", "from, at, up, angle and resolution");
    }
    check_view();
    has_view_ = true;
  }

  void once(bool& seen) {
    if (seen) tokens_.fail_at_word("view", "one \"" + std::string(tokens_.word()) + '"');
    seen = true;
  }

  vec3d view_triple(bool& seen) {
    once(seen);
    std::string const name(tokens_.word());
    tokens_.advance();
    return tokens_.triple(name.c_str(), "3 numbers");
  }

  void check_view() {
    if (auto const bad = problem_of(scene_.view); !bad.empty()) tokens_.fail(bad);
  }

  void read_background() {
    tokens_.advance();
    scene_.background = tokens_.triple("background", "3 numbers");
  }

  void read_light() {
    tokens_.advance();
    light l{tokens_.triple("light", "3 or 6 numbers"), {}};
    if (tokens_.on_line_of_last() && !is_entity(tokens_.word()))
      l.color = tokens_.triple("light", "3 or 6 numbers");
    scene_.lights.push_back(l);
  }

  void read_fill() {
    tokens_.advance();
    char const* const what = "8 numbers";
    material m;
    m.color = tokens_.triple("fill", what);
    m.diffuse = weight(tokens_.number("fill", what));
    m.specular = weight(tokens_.number("fill", what));
    m.shine = weight(tokens_.number("fill", what));
    m.transmittance = weight(tokens_.number("fill", what));
    m.refraction = weight(tokens_.number("fill", what));
    if (m.transmittance > 0 && !(m.refraction > 0)) {
      tokens_.fail("fill needs an index of refraction above 0 where it transmits");
    }
    scene_.add_material(m);
  }

  double weight(double value) {
    if (value < 0) tokens_.fail("fill needs Kd, Ks, shine, T and index of refraction of 0 or more");
    return value;
  }

  void read_sphere() {
    begin("sphere");
    sphere s;
    s.center = tokens_.triple("sphere", "4 numbers");
    s.radius = tokens_.number("sphere", "4 numbers");
    if (!(std::abs(s.radius) >= 1e-15)) tokens_.fail("sphere needs a radius other than 0");
    scene_.add(s);
  }

  void read_cone() {
    begin("cone");
    cone c;
    c.base = tokens_.triple("cone", "8 numbers");
    c.base_radius = tokens_.number("cone", "8 numbers");
    c.apex = tokens_.triple("cone", "8 numbers");
    c.apex_radius = tokens_.number("cone", "8 numbers");
    if (!(length(c.apex - c.base) >= 1e-15)) tokens_.fail("cone needs a base and an apex that differ");
    if (!(std::max(std::abs(c.base_radius), std::abs(c.apex_radius)) >= 1e-15)) {
      tokens_.fail("cone needs a radius other than 0");
    }
    if (c.base_radius * c.apex_radius < 0) tokens_.fail("cone needs two radii of the same sign");
    scene_.add(c);
  }

  void read_polygon(bool patch) {
    char const* const entity = patch ? "patch" : "polygon";
    char const* const what = patch ? "6 numbers for each vertex" : "3 numbers for each vertex";
    begin(entity);
    int const count = vertex_count(entity);
    corners_.clear();
    normals_.clear();
    for (int i = 0; i < count; ++i) {
      corners_.push_back(tokens_.triple(entity, what));
      if (!patch) continue;
      auto const normal = tokens_.triple(entity, what);
      if (!(length(normal) >= 1e-15)) tokens_.fail("patch needs normals other than 0");
      normals_.push_back(normalized(normal));
    }
    scene_.add_polygon(corners_, normals_);
  }

  int vertex_count(char const* entity) {
    auto const digits = skel::program::from_digits<unsigned>(tokens_.word());
    if (digits && *digits < 3) tokens_.fail_at_word(entity, "3 vertices");
    return tokens_.integer(entity, "3 to 10000 vertices", 3, most_vertices);
  }

  void begin(char const* entity) {
    if (scene_.materials.empty()) tokens_.fail_at_word(entity, "a fill (\"f\") before it");
    if (scene_.primitives.size() >= 100'000'000)
      tokens_.fail_at_word("a scene", "at most 100 million primitives");
    tokens_.advance();
  }

  nff_tokens tokens_;
  scene scene_;
  std::vector<vec3d> corners_, normals_;
  bool has_view_ = false;
};

}  // namespace

scene parse_nff(std::string_view text, std::string const& name) { return nff_reader(text, name).read(); }

scene read_nff(std::string const& path) { return parse_nff(skel::program::read_input(path), path); }

}  // namespace raytrace
