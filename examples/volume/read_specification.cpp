#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "byte_source.hpp"
#include "program/json.hpp"
#include "program/text.hpp"
#include "skel/error.hpp"
#include "specification.hpp"

namespace volume {

namespace {

using skel::program::json_reader;

/// An optional member.
template <class Number>
void read(json_reader const& in, char const* key, Number& to, double least, double most) {
  if (!in.has(key)) return;
  if constexpr (std::is_same_v<Number, int>)
    to = in[key].whole<int>(static_cast<int>(least), static_cast<int>(most));
  else
    to = in[key].number(least, most);
}

vec3 vector(json_reader const& in) {
  vec3 v{};
  auto const all = in.items("[x, y, z]", 3, 3);
  for (std::size_t i = 0; i < 3; ++i) v[i] = all[i].number(-1e9, 1e9);
  return v;
}

/// Whether a text is the first of two words.
bool is_first(json_reader const& in, std::string_view first, std::string_view second) {
  auto const word = in.text();
  in.expect(word == first || word == second, fmt::format("\"{}\" or \"{}\"", first, second));
  return word == first;
}

/// "#ff8000".
std::optional<rgb> hexadecimal(std::string const& text) {
  if (text.size() != 7 || text[0] != '#') return std::nullopt;
  rgb c{};
  for (std::size_t i = 0; i < 3; ++i) {
    auto const part = skel::program::from_digits<unsigned>(std::string_view(text).substr(1 + 2 * i, 2), 16);
    if (!part) return std::nullopt;
    c[i] = static_cast<float>(*part) / 255;
  }
  return c;
}

/// "#ff8000" or [1, 0.5, 0].
rgb color(json_reader const& in, std::string const& others = "") {
  auto const& j = in.value();
  if (j.is_string())
    if (auto const hex = hexadecimal(in.text())) return *hex;
  bool const good = j.is_array() && j.size() == 3 && std::all_of(j.begin(), j.end(), [](auto const& c) {
                      return c.is_number() && c >= 0 && c <= 1;
                    });
  in.expect(good, "a colour \"#rrggbb\" or [r, g, b] from 0 to 1" + others);
  return {j[0].get<float>(), j[1].get<float>(), j[2].get<float>()};
}

view_spec read_view(json_reader const& in) {
  in.only_keys({"projection", "from", "at", "up", "azimuth", "elevation", "distance", "angle", "height"});
  view_spec v;
  if (in.has("projection")) v.parallel = is_first(in["projection"], "parallel", "perspective");
  if (in.has("from")) v.from = vector(in["from"]);
  if (in.has("at")) v.at = vector(in["at"]);
  if (in.has("up")) v.up = vector(in["up"]);
  if (v.up == vec3{}) in["up"].fail("expected a direction");
  read(in, "azimuth", v.azimuth, -36000, 36000);
  read(in, "elevation", v.elevation, -90, 90);
  read(in, "distance", v.distance, 1e-3, 1e6);
  read(in, "angle", v.angle, 1e-3, 179);
  read(in, "height", v.height, 1e-9, 1e12);
  for (auto const* const key : {"azimuth", "elevation", "distance"})
    if (v.from && in.has(key)) in.fail(fmt::format("expected \"from\" or \"{}\", not both", key));
  if (v.parallel && in.has("angle")) in.fail("found angle in a parallel view, expected \"height\"");
  if (!v.parallel && in.has("height")) in.fail("found height in a perspective view, expected \"angle\"");
  return v;
}

mapping_spec read_mapping(json_reader const& in) {
  in.only_keys({"color", "opacity", "unit", "relative"});
  mapping_spec m;
  auto const knots = [&](char const* key, auto const& add) {
    double last = -1e30;
    for (auto const& pair : in[key].items(fmt::format("1 to 1024 pairs [value, {}]", key), 1, 1024)) {
      auto const both = pair.items(fmt::format("a pair [value, {}]", key), 2, 2);
      auto const value = both[0].number(-1e30, 1e30);
      if (value < last)
        both[0].fail(fmt::format("expected values that do not decrease, found {} after {}", value, last));
      last = value;
      add(value, both[1]);
    }
  };
  knots("color", [&](double value, json_reader const& c) { m.color.push_back({value, color(c)}); });
  knots("opacity", [&](double value, json_reader const& e) {
    m.opacity.push_back({value, e.number(0, 1e6)});
  });
  read(in, "unit", m.unit, 1e-12, 1e12);
  if (in.has("relative")) m.relative = in["relative"].flag();
  return m;
}

light_spec read_light(json_reader const& in) {
  in.only_keys({"direction", "ambient", "diffuse", "specular", "shininess", "samples"});
  light_spec l;
  if (in.has("direction")) l.direction = vector(in["direction"]);
  if (l.direction == vec3{}) in["direction"].fail("expected a direction towards the light");
  read(in, "ambient", l.ambient, 0, 10);
  read(in, "diffuse", l.diffuse, 0, 10);
  read(in, "specular", l.specular, 0, 10);
  read(in, "shininess", l.shininess, 1, 1024);
  read(in, "samples", l.samples, 1, 16);
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

background_spec read_background(json_reader const& in) {
  using kind = background_spec::kind;
  if (in.value().is_object()) {
    in.only_keys({"image"});
    return {kind::image, {}, in["image"].text()};
  }
  if (in.value().is_string())
    if (auto const b = plain_background(in.text())) return *b;
  return {kind::color, color(in, ", \"none\", \"map\" or {\"image\": FILE.png}"), {}};
}

specification read_all(json_reader const& in) {
  in.only_keys(specification_keys);
  specification spec;
  auto const given = [&](char const* key) { return in.has(key) && in[key].value() != nlohmann::json(false); };
  if (in.has("view")) spec.view = read_view(in["view"]);
  if (in.has("stretch")) {
    spec.stretch = vector(in["stretch"]);
    for (auto const f : spec.stretch) in["stretch"].expect(f >= 1e-6, "three factors of at least 1e-6");
  }
  if (in.has("mapping")) spec.mapping = read_mapping(in["mapping"]);
  if (given("light")) spec.light = read_light(in["light"]);
  if (in.has("attenuation")) {
    auto const a = in["attenuation"];
    a.only_keys({"density", "color"});
    read(a, "density", spec.attenuation.density, 0, 1e6);
    if (a.has("color")) spec.attenuation.color = color(a["color"]);
  }
  read(in, "visibility_limit", spec.visibility_limit, 1e-3, 1);
  if (in.has("rule")) spec.rule = is_first(in["rule"], "exact", "trapezoid") ? rule::exact : rule::trapezoid;
  read(in, "tolerance", spec.tolerance, 1e-7, 1);
  if (in.has("background")) spec.background = read_background(in["background"]);
  if (given("frame")) spec.frame = color(in["frame"]);
  if (in.has("size")) {
    auto const size = in["size"].items("[width, height]", 2, 2);
    spec.width = size[0].whole<int>(1, 65536);
    spec.height = size[1].whole<int>(1, 65536);
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
  auto const document = json_reader::parse(text, place);
  return read_all(json_reader(document, place));
}

specification read_specification(std::string const& path) {
  auto spec = parse_specification(volume_data::read_text(path, std::size_t{1} << 20), path);
  auto& image = spec.background.image;  // relative to the specification, not to the working directory
  if (!image.empty()) image = (std::filesystem::path(path).parent_path() / image).string();
  return spec;
}

}  // namespace volume
