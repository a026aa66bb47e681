#include "tools/model/choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "base/text.hpp"
#include "program/help.hpp"
#include "skel/error.hpp"

namespace skel::model {

using namespace program;

void choice::add_options(CLI::App& app, bool model_needed) {
  auto* const file = option(app, "--model FILE.json", model, "model written by fit");
  if (model_needed) {
    model = default_model;
    file->capture_default_str();
  }
  option(app, "--machine FILE.json", machine,
         "machine written by calibrate; without it, the samples determine the cost of exchanges");
  app.add_option("--program", program, "select a program of the model");
  app.add_option("--skeleton", skeleton, "select a skeleton of the model");
  app.add_option("--schedule", schedule, "select a schedule of the model; a prefix suffices");
  app.add_option("--results", results, "select a results policy of the model");
  option(app, "--bytes EXPRESSION", bytes, "bytes per exchange if the samples do not record them, e.g. 4*N");
  option(app, "--exchange", exchange,
         "how an exchange is priced: paper: 2 (l + bytes g); measured: calibrated pairs; fitted: "
         "from the samples; automatic: measured if possible",
         shown_default, CLI::IsMember({"automatic", "paper", "measured", "fitted"}));
  option(app, "--kind", kind, "how values are turned into bytes: raw or serialised", shown_default);
}

void choice::add_size_options(CLI::App& app) {
  option(app, "--set NAME=VALUE", sizes, "size of the problem; may be repeated");
  app.add_option("--nodes", nodes, "the same as --set N=…");
  app.add_option("--edges", edges, "the same as --set M=…");
  option(app, "--confidence", confidence, "confidence level of the intervals", shown_default,
         CLI::Range(0.5, 0.9999));
  app.add_flag("--json", json, "print JSON instead of tables");
}

point choice::at() const {
  point p;
  for (auto const& text : sizes) {
    auto const equals = text.find('=');
    bool const named = equals != std::string::npos && equals > 0;
    auto const x =
        named ? detail::to_number<double>(std::string_view(text).substr(equals + 1)) : std::nullopt;
    if (!x || !std::isfinite(*x) || *x < 0)
      throw usage_error(
          fmt::format("--set: expected NAME=VALUE with a number of at least 0, found \"{}\"", text));
    p[text.substr(0, equals)] = *x;
  }
  auto const add = [&](std::optional<double> const& value, char const* option, char const* name) {
    if (value && !p.emplace(name, *value).second)
      throw usage_error(fmt::format("{} and --set {}: expected only one of them", option, name));
  };
  add(nodes, "--nodes", "N");
  add(edges, "--edges", "M");
  for (auto const& [name, value] : p)
    if (!(value >= 0 && value <= 1e30))
      throw usage_error(fmt::format("{} is {}, expected a number from 0 to 1e30", name, value));
  return p;
}

std::optional<skel::model::machine> choice::where() const {
  if (machine.empty()) return std::nullopt;
  return skel::model::machine::read(machine);
}

skel::model::model choice::fitted() const {
  if (model == default_model && !std::filesystem::exists(model))
    throw usage_error(
        fmt::format("{}: no such file; write it with skel-model fit or name another with --model", model));
  return skel::model::model::read(model);
}

predict_options choice::how() const {
  static std::map<std::string, exchange_cost> const names{{"automatic", exchange_cost::automatic},
                                                          {"paper", exchange_cost::paper},
                                                          {"measured", exchange_cost::measured},
                                                          {"fitted", exchange_cost::fitted}};
  predict_options o;
  o.exchange = names.at(exchange);
  o.kind = kind;
  if (!bytes.empty()) o.exchange_bytes = parse_expression(bytes);
  return o;
}

std::vector<skeleton_model const*> choice::of(skel::model::model const& m) const {
  std::vector<skeleton_model const*> found;
  std::string known;
  std::set<std::string> programs;
  for (auto const& s : m.skeletons) {
    if (!program.empty() && s.program != program) continue;
    known += (known.empty() ? "" : "; ") + s.name();
    bool const wanted = (skeleton.empty() || s.skeleton == skeleton) && s.schedule.starts_with(schedule) &&
                        (results.empty() || s.results.starts_with(results));
    if (!wanted) continue;
    found.push_back(&s);
    programs.insert(s.program);
  }
  if (found.empty())
    throw usage_error(fmt::format("{}: no matching skeleton in the model; known: {}", model, known));
  if (programs.size() > 1)
    throw usage_error(fmt::format("{}: the model has several programs, expected --program with one of: {}",
                                  model, fmt::join(programs, ", ")));
  check_names(found);
  return found;
}

// A size that no term depends on is a typing error.
void choice::check_names(std::vector<skeleton_model const*> const& models) const {
  std::set<std::string> known{"P", "tasks", "threads"};
  for (auto const* const m : models) {
    for (auto const& [name, factor] : m->per_level) known.insert(name);
    for (auto const& t : m->terms) {
      for (auto const& [name, range] : t.curve.range) known.insert(name);
      for (auto const& function : t.curve.basis)
        for (auto const& f : function.factors) known.insert(f.variable);
    }
  }
  for (auto const& [name, value] : at())
    if (!known.contains(name))
      throw usage_error(
          fmt::format("{} is not a variable of the model; known: {}", name, fmt::join(known, ", ")));
}

}  // namespace skel::model
