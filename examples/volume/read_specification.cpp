#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>

#include "byte_source.hpp"
#include "program/parse_json.hpp"
#include "skel/error.hpp"
#include "specification.hpp"

namespace volume {

namespace {

using nlohmann::json;

/// One object of the specification: its place and its known keys.
class section {
 public:
  template <class Keys = std::initializer_list<std::string_view>>
  section(json const& j, std::string place, Keys const& known) : j_(j), place_(std::move(place)) {
    if (!j.is_object()) fail("expected an object");
    for (auto const& item : j.items())
      if (std::ranges::find(known, item.key()) == known.end())
        fail(fmt::format("unknown key \"{}\"; known: {}", item.key(), fmt::join(known, ", ")));
  }

  [[nodiscard]] bool has(char const* key) const { return j_.contains(key); }
  [[nodiscard]] json const& at(char const* key) const { return j_.at(key); }
  [[nodiscard]] std::string place(std::string_view key) const { return fmt::format("{}: {}", place_, key); }
  [[noreturn]] void fail(std::string const& text) const { throw skel::usage_error(place_ + ": " + text); }

  void number(char const* key, double& to, double least, double most) const {
    if (has(key)) to = checked(at(key), key, least, most);
  }
  void number(char const* key, std::optional<double>& to, double least, double most) const {
    if (has(key)) to = checked(at(key), key, least, most);
  }
  void integer(char const* key, int& to, int least, int most) const {
    if (has(key)) to = whole(at(key), key, least, most);
  }
  [[nodiscard]] int whole(json const& j, std::string_view key, int least, int most) const {
    auto const value = checked(j, key, least, most);
    if (value != std::floor(value))
      throw skel::usage_error(fmt::format("{}: expected a whole number, found {}", place(key), value));
    return static_cast<int>(value);
  }
  [[nodiscard]] double checked(json const& j, std::string_view key, double least, double most) const {
    if (j.is_number()) {
      auto const value = j.get<double>();
      if (value >= least && value <= most) return value;
    }
    throw skel::usage_error(fmt::format("{}: expected a number from {} to {}, found {}", place(key), least,
                                        most, j.dump().substr(0, 60)));
  }
  [[nodiscard]] vec3 vector(char const* key) const {
    auto const& j = at(key);
    if (!j.is_array() || j.size() != 3) throw skel::usage_error(place(key) + ": expected [x, y, z]");
    vec3 v{};
    for (std::size_t i = 0; i < 3; ++i) v[i] = checked(j[i], key, -1e9, 1e9);
    return v;
  }
  [[nodiscard]] bool flag(char const* key) const {
    if (!at(key).is_boolean()) throw skel::usage_error(place(key) + ": expected true or false");
    return at(key).get<bool>();
  }
  [[nodiscard]] std::string text(char const* key) const {
    if (!at(key).is_string()) throw skel::usage_error(place(key) + ": expected a string");
    return at(key).get<std::string>();
  }

 private:
  json const& j_;
  std::string place_;
};

/// "#ff8000".
std::optional<rgb> hexadecimal(std::string const& text) {
  if (text.size() != 7 || text[0] != '#' ||
      text.find_first_not_of("0123456789abcdefABCDEF", 1) != std::string::npos)
    return std::nullopt;
  rgb c{};
  for (std::size_t i = 0; i < 3; ++i)
    c[i] = static_cast<float>(std::stoi(text.substr(1 + 2 * i, 2), nullptr, 16)) / 255;
  return c;
}

/// "#ff8000" or [1, 0.5, 0].
rgb color(json const& j, std::string const& place) {
  rgb c{};
  if (j.is_string()) {
    if (auto const hex = hexadecimal(j.get<std::string>())) return *hex;
  } else if (j.is_array() && j.size() == 3) {
    bool good = true;
    for (std::size_t i = 0; i < 3; ++i) {
      good = good && j[i].is_number() && j[i].get<double>() >= 0 && j[i].get<double>() <= 1;
      if (good) c[i] = j[i].get<float>();
    }
    if (good) return c;
  }
  throw skel::usage_error(fmt::format("{}: expected a colour \"#rrggbb\" or [r, g, b] from 0 to 1, found {}",
                                      place, j.dump().substr(0, 60)));
}

view_spec read_view(json const& j, std::string const& place) {
  section const s(j, place,
                  {"projection", "from", "at", "up", "azimuth", "elevation", "distance", "angle", "height"});
  view_spec v;
  if (s.has("projection")) {
    auto const p = s.text("projection");
    if (p != "perspective" && p != "parallel")
      s.fail(fmt::format("projection: expected \"perspective\" or \"parallel\", found \"{}\"", p));
    v.parallel = p == "parallel";
  }
  if (s.has("from")) v.from = s.vector("from");
  if (s.has("at")) v.at = s.vector("at");
  if (s.has("up")) v.up = s.vector("up");
  if (v.up == vec3{}) s.fail("up: expected a direction");
  s.number("azimuth", v.azimuth, -36000, 36000);
  s.number("elevation", v.elevation, -90, 90);
  s.number("distance", v.distance, 1e-3, 1e6);
  s.number("angle", v.angle, 1e-3, 179);
  s.number("height", v.height, 1e-9, 1e12);
  for (auto const* const key : {"azimuth", "elevation", "distance"})
    if (v.from && s.has(key)) s.fail(fmt::format("expected \"from\" or \"{}\", not both", key));
  if (v.parallel && s.has("angle")) s.fail("found angle in a parallel view, expected \"height\"");
  if (!v.parallel && s.has("height")) s.fail("found height in a perspective view, expected \"angle\"");
  return v;
}

mapping_spec read_mapping(json const& j, std::string const& place) {
  section const s(j, place, {"color", "opacity", "unit", "relative"});
  mapping_spec m;
  auto const knots = [&](char const* key, auto const& add) {
    if (!s.has(key) || !s.at(key).is_array() || s.at(key).empty() || s.at(key).size() > 1024)
      s.fail(fmt::format("{}: expected 1 to 1024 pairs [value, {}]", key, key));
    double last = -1e30;
    for (auto const& pair : s.at(key)) {
      if (!pair.is_array() || pair.size() != 2)
        s.fail(fmt::format("{}: expected pairs [value, {}]", key, key));
      auto const value = s.checked(pair[0], key, -1e30, 1e30);
      if (value < last)
        s.fail(fmt::format("{}: expected values that do not decrease, found {} after {}", key, value, last));
      last = value;
      add(value, pair[1]);
    }
  };
  knots("color", [&](double value, json const& c) {
    m.color.push_back({value, color(c, s.place("color"))});
  });
  knots("opacity", [&](double value, json const& e) {
    m.opacity.push_back({value, s.checked(e, "opacity", 0, 1e6)});
  });
  s.number("unit", m.unit, 1e-12, 1e12);
  if (s.has("relative")) m.relative = s.flag("relative");
  return m;
}

light_spec read_light(json const& j, std::string const& place) {
  section const s(j, place, {"direction", "ambient", "diffuse", "specular", "shininess", "samples"});
  light_spec l;
  if (s.has("direction")) l.direction = s.vector("direction");
  if (l.direction == vec3{}) s.fail("direction: expected a direction towards the light");
  s.number("ambient", l.ambient, 0, 10);
  s.number("diffuse", l.diffuse, 0, 10);
  s.number("specular", l.specular, 0, 10);
  s.integer("shininess", l.shininess, 1, 1024);
  s.integer("samples", l.samples, 1, 16);
  return l;
}

/// Parses "none", "map", or a colour "#rrggbb".
std::optional<background_spec> plain_background(std::string const& text) {
  using kind = background_spec::kind;
  if (text == "none") return background_spec{kind::none, {}, {}};
  if (text == "map") return background_spec{kind::map, {}, {}};
  if (auto const hex = hexadecimal(text)) return background_spec{kind::color, *hex, {}};
  return std::nullopt;
}

background_spec read_background(json const& j, std::string const& place) {
  using kind = background_spec::kind;
  if (j.is_string())
    if (auto const b = plain_background(j.get<std::string>())) return *b;
  background_spec b;
  if (j.is_object()) {
    section const s(j, place, {"image"});
    b.what = kind::image;
    b.image = s.text("image");
  } else {
    b.color = color(j, place + " (or \"none\", \"map\", {\"image\": FILE.png})");
  }
  return b;
}

specification read_all(json const& j, std::string const& place) {
  section const s(j, place, specification_keys);
  specification spec;
  if (s.has("view")) spec.view = read_view(s.at("view"), s.place("view"));
  if (s.has("stretch")) {
    spec.stretch = s.vector("stretch");
    for (auto const f : spec.stretch)
      if (!(f >= 1e-6)) s.fail(fmt::format("stretch: expected three factors of at least 1e-6, found {}", f));
  }
  if (s.has("mapping")) spec.mapping = read_mapping(s.at("mapping"), s.place("mapping"));
  if (s.has("light") && s.at("light") != json(false))
    spec.light = read_light(s.at("light"), s.place("light"));
  if (s.has("attenuation")) {
    section const a(s.at("attenuation"), s.place("attenuation"), {"density", "color"});
    a.number("density", spec.attenuation.density, 0, 1e6);
    if (a.has("color")) spec.attenuation.color = color(a.at("color"), a.place("color"));
  }
  s.number("visibility_limit", spec.visibility_limit, 1e-3, 1);
  if (s.has("rule")) {
    auto const r = s.text("rule");
    if (r != "exact" && r != "trapezoid")
      s.fail(fmt::format("rule: expected \"exact\" or \"trapezoid\", found \"{}\"", r));
    spec.rule = r == "exact" ? rule::exact : rule::trapezoid;
  }
  s.number("tolerance", spec.tolerance, 1e-7, 1);
  if (s.has("background")) spec.background = read_background(s.at("background"), s.place("background"));
  if (s.has("frame") && s.at("frame") != json(false)) spec.frame = color(s.at("frame"), s.place("frame"));
  if (s.has("size")) {
    auto const& size = s.at("size");
    if (!size.is_array() || size.size() != 2) s.fail("size: expected [width, height]");
    spec.width = s.whole(size[0], "size", 1, 65536);
    spec.height = s.whole(size[1], "size", 1, 65536);
  }
  return spec;
}

}  // namespace

background_spec background_named(std::string const& text, std::string const& place) {
  if (auto const plain = plain_background(text)) return *plain;
  if (text.ends_with(".png")) return {background_spec::kind::image, {}, text};
  throw skel::usage_error(
      fmt::format("{}: expected a FILE.png, \"map\", \"none\" or #rrggbb, found \"{}\"", place, text));
}

specification parse_specification(std::string_view text, std::string const& place) {
  try {
    return read_all(skel::program::parse_json(text), place);
  } catch (json::exception const& e) {
    std::string what = e.what();
    std::ranges::replace(what, '\n', ' ');
    throw skel::usage_error(place + ": " + what.substr(0, 200));
  }
}

specification read_specification(std::string const& path) {
  auto spec = parse_specification(volume_data::read_text(path, std::size_t{1} << 20), path);
  auto& image = spec.background.image;  // relative to the specification, not to the working directory
  if (!image.empty()) image = (std::filesystem::path(path).parent_path() / image).string();
  return spec;
}

}  // namespace volume
