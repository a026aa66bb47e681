// Reads and writes a model as JSON, schema 1.

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/format.hpp"
#include "base/json.hpp"
#include "skel/error.hpp"
#include "skel/model/model.hpp"
#include "text.hpp"

namespace skel::model {

namespace {

using json = nlohmann::ordered_json;
using detail::json_reader;

constexpr double largest = 1e300;

json to_json(kriging const& k) {
  json object{{"variables", k.variables}, {"lengths", k.lengths}, {"sill", k.sill},
              {"noise", k.noise},         {"error", k.error},     {"without", k.without}};
  for (auto const& p : k.points) {
    json at = json::array();
    for (auto const& name : k.variables) at.push_back(p.at.at(name));
    object["points"].push_back({{"at", at}, {"residual", p.value}, {"repetitions", p.repetitions}});
  }
  return object;
}

json formula_to_json(formula const& f) {
  json object;
  for (auto const& b : f.basis) object["basis"].push_back(to_string(b));
  object["coefficients"] = f.coefficients;
  object["covariance"] = f.covariance;
  object["weight"] = f.weight;
  return object;
}

json to_json(fitted const& f) {
  json object = formula_to_json(f);
  object["low"] = f.low;
  object["high"] = f.high;
  object["confidence"] = f.confidence;
  object["r2"] = f.r2;
  object["condition"] = f.condition;
  object["weights"] = f.weights == weighting::relative ? "relative" : "equal";
  object["deviation"] = f.deviation;
  object["samples"] = f.samples;
  object["range"] = json::object();
  for (auto const& [name, r] : f.range) object["range"][name] = {r.first, r.second};
  object["outliers"] = json::array();
  for (auto const& o : f.outliers)
    object["outliers"].push_back({{"where", o.where}, {"value", o.value}, {"expected", o.expected}});
  for (auto const& a : f.alternatives) object["alternatives"].push_back(formula_to_json(a));
  object["warnings"] = f.warnings;
  if (f.residuals) object["kriging"] = to_json(*f.residuals);
  return object;
}

json to_json(held_out const& h) {
  return {{"fitted", h.fitted},
          {"predicted", h.predicted},
          {"median_error", h.median},
          {"percentile_90_error", h.percentile_90}};
}

json to_json(term const& t) {
  json object;
  object["phase"] = t.phase;
  object["quantity"] = t.quantity;
  object["chosen"] = t.chosen;
  object.update(to_json(t.curve));
  if (t.error) object["held_out"] = to_json(*t.error);
  if (t.noise)
    object["noise"] = {{"configurations", t.noise->configurations},
                       {"samples", t.noise->samples},
                       {"median", t.noise->median},
                       {"percentile_90", t.noise->percentile_90}};
  return object;
}

basis_function read_function(json_reader const& in) {
  std::string wrong = "expected one function";
  try {
    auto functions = parse_basis(in.text());
    if (functions.size() == 1) return functions.front();
  } catch (usage_error const& bad) {
    wrong = bad.what();
  }
  in.fail(wrong);
}

kriging read_kriging(json_reader const& in) {
  kriging k;
  for (auto const& name : in["variables"].items()) k.variables.push_back(name.text());
  k.lengths = in["lengths"].numbers(0, largest);
  k.sill = in["sill"].number(0, largest);
  k.noise = in["noise"].number(0, largest);
  k.error = in.number_or("error", 0, largest, 0);
  k.without = in.number_or("without", 0, largest, 0);
  for (auto const& one : in["points"].items()) {
    auto const at = one["at"].numbers(0, largest);
    if (at.size() != k.variables.size())
      one["at"].fail(detail::format("{} numbers, expected {}", at.size(), k.variables.size()));
    residual r;
    for (std::size_t i = 0; i < at.size(); ++i) r.at[k.variables[i]] = at[i];
    constexpr double most = 100;  // a factor of e^100
    r.value = one["residual"].number(-most, most);
    r.repetitions = static_cast<int>(one["repetitions"].number(1, 1e9));
    k.points.push_back(std::move(r));
  }
  try {
    k.prepare();
  } catch (usage_error const& bad) {
    in.fail(bad.what());
  }
  return k;
}

std::vector<double> read_numbers(json_reader const& in, std::size_t n) {
  auto values = in.numbers(-largest, largest);
  if (values.size() != n) in.fail(detail::format("{} numbers, expected {}", values.size(), n));
  return values;
}

formula read_formula(json_reader const& in) {
  formula f;
  for (auto const& b : in["basis"].items()) f.basis.push_back(read_function(b));
  auto const p = f.basis.size();
  if (p == 0) in["basis"].fail("expected at least one function");
  f.coefficients = read_numbers(in["coefficients"], p);
  if (in.has("covariance"))
    f.covariance = read_numbers(in["covariance"], p * p);
  else
    f.covariance.assign(p * p, 0);  // e.g. coefficients from a paper
  f.weight = in.number_or("weight", 0, 1, 1);
  return f;
}

fitted read_fitted(json_reader const& in) {
  fitted f;
  static_cast<formula&>(f) = read_formula(in);
  auto const p = f.basis.size();
  f.low = f.high = f.coefficients;
  if (in.has("low")) f.low = in["low"].numbers(-HUGE_VAL, largest);
  if (in.has("high")) f.high = in["high"].numbers(-largest, HUGE_VAL);
  if (f.low.size() != p || f.high.size() != p) in["low"].fail("expected one bound per function");
  auto const weights = in.text_or("weights", "relative");
  if (weights != "relative" && weights != "equal") in["weights"].fail("expected relative or equal");
  f.weights = weights == "equal" ? weighting::equal : weighting::relative;
  f.confidence = in.number_or("confidence", 0.5, 0.9999, 0.95);
  f.r2 = in.number_or("r2", -largest, 1, 0);
  f.condition = in.number_or("condition", 1, largest, 1);
  f.deviation = in.number_or("deviation", 0, largest, 0);
  f.samples = static_cast<int>(in.number_or("samples", 0, 1e9, 0));
  if (in.has("range")) {
    for (auto const& [name, pair] : in["range"].members()) {
      auto const r = pair.numbers(-largest, largest);
      if (r.size() != 2) pair.fail("expected the smallest and the largest value");
      f.range[name] = {r[0], r[1]};
    }
  }
  if (in.has("kriging")) f.residuals = read_kriging(in["kriging"]);
  if (in.has("alternatives"))
    for (auto const& a : in["alternatives"].items()) f.alternatives.push_back(read_formula(a));
  return f;
}

std::optional<held_out> read_held_out(json_reader const& in) {
  if (!in.has("held_out")) return std::nullopt;
  auto const h = in["held_out"];
  return held_out{static_cast<int>(h["fitted"].number(0, 1e9)),
                  static_cast<int>(h["predicted"].number(0, 1e9)), h["median_error"].number(0, largest),
                  h["percentile_90_error"].number(0, largest)};
}

term read_term(json_reader const& in) {
  term t;
  t.phase = in["phase"].text();
  t.quantity = in.text_or("quantity", "seconds");
  t.chosen = in.has("chosen") && in["chosen"].flag();
  t.curve = read_fitted(in);
  t.error = read_held_out(in);
  if (in.has("noise")) {
    auto const n = in["noise"];
    t.noise = repetition_noise{static_cast<int>(n["configurations"].number(0, 1e9)),
                               static_cast<int>(n["samples"].number(0, 1e9)), n["median"].number(0, largest),
                               n["percentile_90"].number(0, largest)};
  }
  return t;
}

}  // namespace

model model::parse(std::string_view text, std::string const& file) {
  auto const whole = json_reader::parse(text, file);
  json_reader const root(whole, file);
  if (root["skel_model"].number(0, 1e9) != 1) root["skel_model"].fail("unknown schema, expected 1");
  model m;
  for (auto const& in : root["skeletons"].items()) {
    skeleton_model s;
    s.program = in.text_or("program");
    s.skeleton = in.text_or("skeleton");
    s.schedule = in.text_or("schedule");
    s.results = in.text_or("results");
    s.error = read_held_out(in);
    if (in.has("per_level"))
      for (auto const& [name, factor] : in["per_level"].members()) s.per_level[name] = factor.number(0, 1e6);
    for (auto const& t : in["terms"].items()) s.terms.push_back(read_term(t));
    m.skeletons.push_back(std::move(s));
  }
  if (m.skeletons.empty()) root["skeletons"].fail("expected at least one skeleton");
  return m;
}

model model::read(std::string const& path) { return parse(read_text(path), path); }

std::string model::to_json() const {
  json object;
  object["skel_model"] = 1;
  object["skeletons"] = json::array();
  for (auto const& s : skeletons) {
    json one;
    one["program"] = s.program;
    one["skeleton"] = s.skeleton;
    one["schedule"] = s.schedule;
    one["results"] = s.results;
    one["per_level"] = s.per_level.empty() ? json::object() : json(s.per_level);
    if (s.error) one["held_out"] = skel::model::to_json(*s.error);
    one["terms"] = json::array();
    for (auto const& t : s.terms) one["terms"].push_back(skel::model::to_json(t));
    object["skeletons"].push_back(std::move(one));
  }
  return object.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace skel::model
