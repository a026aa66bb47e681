// Parses the names of the published trees, and other trees by their parameters.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "program/text.hpp"
#include "skel/error.hpp"
#include "uts.hpp"

namespace search {

namespace {

using type = tree_type;
using shape = tree_shape;

[[noreturn]] void refuse(std::string_view spec, std::string const& why) {
  throw skel::usage_error(fmt::format("--tree: {} in \"{}\"", why, spec));
}

double number_of(std::string_view spec, std::string_view key, std::string const& text, double most) {
  auto const x = skel::program::to_number<double>(text);
  if (!x || !(*x >= 0 && *x <= most))
    refuse(spec, fmt::format("{} must be a number from 0 to {:g}, found \"{}\"", key, most, text));
  return *x;
}

tree_shape shape_named(std::string_view spec, std::string_view name) {
  if (name == "linear") return shape::linear;
  if (name == "expdec") return shape::expdec;
  if (name == "cyclic") return shape::cyclic;
  if (name == "fixed") return shape::fixed;
  refuse(spec, fmt::format("unknown shape \"{}\" (known: linear, expdec, cyclic, fixed)", name));
}

void set(uts_parameters& p, std::string_view spec, std::string_view key, std::string const& value) {
  if (key == "shape")
    p.shape = shape_named(spec, value);
  else if (key == "d")
    p.depth = static_cast<unsigned>(number_of(spec, key, value, 1e6));
  else if (key == "b")
    p.branching = number_of(spec, key, value, 1e6);
  else if (key == "q")
    p.probability = number_of(spec, key, value, 1);
  else if (key == "m")
    p.children = static_cast<unsigned>(number_of(spec, key, value, 100));
  else if (key == "f")
    p.shift = number_of(spec, key, value, 1);
  else if (key == "r")
    p.seed = static_cast<std::uint32_t>(number_of(spec, key, value, 4294967295.0));
  else
    refuse(spec, fmt::format("unknown key \"{}\" (known: shape, d, b, q, m, f, r)", key));
}

}  // namespace

std::vector<named_tree> const& known_trees() {
  auto const geometric = [](shape a, unsigned d, double b, std::uint32_t r) {
    return uts_parameters{.type = type::geometric, .shape = a, .depth = d, .branching = b, .seed = r};
  };
  auto const binomial = [](double b, double q, unsigned m, std::uint32_t r) {
    return uts_parameters{.type = type::binomial, .branching = b, .probability = q, .children = m, .seed = r};
  };
  static std::vector<named_tree> const all{
      {"T1", geometric(shape::fixed, 10, 4, 19), tree_counts{4130071, 3305118, 10}},
      {"T2", geometric(shape::cyclic, 16, 6, 502), tree_counts{4117769, 2342762, 81}},
      {"T3", binomial(2000, 0.124875, 8, 42), tree_counts{4112897, 3599034, 1572}},
      {"T4",
       {.type = type::hybrid, .depth = 16, .branching = 6, .probability = 0.234375, .children = 4, .seed = 1},
       tree_counts{4132453, 3108986, 134}},
      {"T5", geometric(shape::linear, 20, 4, 34), tree_counts{4147582, 2181318, 20}},
      {"T1L", geometric(shape::fixed, 13, 4, 29), std::nullopt},
      {"T3L", binomial(2000, 0.200014, 5, 7), tree_counts{111345631, 89076904, 17844}},
  };
  return all;
}

named_tree parse_tree(std::string_view spec) {
  for (auto const& t : known_trees())
    if (t.name == spec) return t;
  auto const colon = spec.find(':');
  auto const name = spec.substr(0, colon);
  uts_parameters p;
  if (name == "binomial")
    p.type = type::binomial;
  else if (name == "hybrid")
    p.type = type::hybrid;
  else if (name != "geometric")
    throw skel::usage_error(fmt::format(
        "--tree: unknown tree \"{}\"; known: T1, T2, T3, T4, T5, T1L, T3L, or binomial, geometric, hybrid "
        "with their parameters, as in geometric:shape=fixed,d=10,b=4,r=19",
        spec));
  auto rest = colon == std::string_view::npos ? std::string_view{} : spec.substr(colon + 1);
  std::set<std::string_view> seen;
  while (!rest.empty()) {
    auto const item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    auto const equals = item.find('=');
    if (equals == std::string_view::npos) refuse(spec, fmt::format("expected key=value, found \"{}\"", item));
    if (!seen.insert(item.substr(0, equals)).second)
      refuse(spec, fmt::format("found {} twice, expected once", item.substr(0, equals)));
    set(p, spec, item.substr(0, equals), std::string(item.substr(equals + 1)));
  }
  if (p.type != type::binomial && p.depth == 0) refuse(spec, "d must be at least 1");
  if (p.type != type::geometric && p.probability * p.children >= 1)
    refuse(spec, "q times m must be less than 1, or the tree is infinite");
  if (p.type != type::binomial && p.shape == tree_shape::expdec && p.branching < 1)
    refuse(spec, "b must be at least 1 with shape expdec, or the tree is infinite");
  return {spec, p, std::nullopt};
}

}  // namespace search
