// skel-model fit: fits a model to samples.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "program/help.hpp"
#include "program/paths.hpp"
#include "skel/atomic_file.hpp"
#include "skel/error.hpp"
#include "skel/model/model.hpp"
#include "skel/model/predict.hpp"
#include "tools/model/choice.hpp"
#include "tools/model/commands.hpp"
#include "tools/model/figures.hpp"
#include "tools/model/table.hpp"

namespace skel::model {

using namespace program;

namespace {

struct fit_arguments {
  std::vector<std::string> samples, basis, only, variables;
  std::string output, plot, extra_p;
  std::string weights = "relative";
  bool no_kriging = false;
  bool json = false;
  model_options how;
};

void add_options(CLI::App& app, fit_arguments& o) {
  option(app, "samples FILE.csv|FILE.jsonl", o.samples,
         "samples files (docs/reference/report.md) or Extra-P JSON Lines", required);
  option(app, "-o,--output FILE.json", o.output,
         fmt::format("model file to write [{}; none with --json]", default_model));
  option(app, "--basis [PHASE[.QUANTITY]=]BASIS", o.basis,
         "basis functions of all phases or of one: \"1 + M\", \"sequential=N + M\", "
         "\"exchange.bytes=N\"; [the best sum of up to three]; may be repeated");
  option(app, "--halved NAME,…", o.how.halved,
         "variables that each division halves, if the samples do not show it", comma_list);
  option(app, "--only KEY=VALUE", o.only,
         "use only samples with this program, skeleton, schedule, results, phase or problem key; may "
         "be repeated");
  option(app, "--variables NAME,…", o.variables, "use only these variables of the samples", comma_list);
  option(app, "--weights", o.weights, "relative: minimise relative errors; equal: minimise absolute errors",
         shown_default, CLI::IsMember({"relative", "equal"}));
  option(app, "--confidence", o.how.how.confidence, "confidence level of the intervals", shown_default,
         CLI::Range(0.5, 0.9999));
  app.add_flag("--no-kriging", o.no_kriging,
               "use the basis functions only, without kriging of their residuals");
  option(app, "--plot FILE.svg", o.plot, "plot of measured against fitted values, and residuals");
  option(app, "--extra-p FILE.jsonl", o.extra_p, "export the samples as JSON Lines for Extra-P");
  app.add_flag("--json", o.json, "print the model instead of tables");
}

std::pair<std::string, std::string> key_and_value(std::string const& text, char const* option) {
  auto const equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw usage_error(fmt::format("{}: expected KEY=VALUE, found \"{}\"", option, text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string value_of(sample const& s, std::string const& key) {
  if (key == "program") return s.program;
  if (key == "skeleton") return s.skeleton;
  if (key == "schedule") return s.schedule;
  if (key == "results") return s.results;
  if (key == "phase") return s.phase;
  if (key == "level") return std::to_string(s.level);
  if (auto const label = s.labels.find(key); label != s.labels.end()) return label->second;
  if (auto const number = s.variables.find(key == "ranks" ? "P" : key); number != s.variables.end())
    return fmt::format("{}", number->second);
  return "";
}

// Text is no variable: its values would pass for noise.
void warn_of_mixed(std::vector<sample> const& all) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> values;
  for (auto const& s : all)
    for (auto const& [name, value] : s.labels) values[{s.program, name}].insert(value);
  for (auto const& [of, found] : values) {
    auto const& [program, name] = of;
    if (found.size() > 1)
      fmt::print(stderr, "skel-model: warning: {}{}one fit for {} {}: select with --only {}={}\n", program,
                 program.empty() ? "" : ": ", name, fmt::join(found, ", "), name, *found.begin());
  }
}

std::vector<sample> samples_of(fit_arguments const& o) {
  std::vector<sample> all;
  for (auto const& path : o.samples)
    for (auto& s : read_samples(path)) all.push_back(std::move(s));
  for (auto const& text : o.only) {
    auto const [key, value] = key_and_value(text, "--only");
    std::erase_if(all, [&, k = key, v = value](sample const& s) { return value_of(s, k) != v; });
    if (all.empty()) throw usage_error(fmt::format("--only {}: no sample matches", text));
  }
  std::set<std::string> known;
  for (auto const& s : all)
    for (auto const& [name, value] : s.variables) known.insert(name);
  auto const check = [&](std::vector<std::string> const& names, char const* option) {
    for (auto const& name : names)
      if (!known.contains(name))
        throw usage_error(fmt::format("{} {}: the samples have no such variable; known: {}", option, name,
                                      fmt::join(known, ", ")));
  };
  check(o.variables, "--variables");
  check(o.how.halved, "--halved");
  warn_of_mixed(all);
  if (o.variables.empty()) return all;
  std::set<std::string> const kept(o.variables.begin(), o.variables.end());
  for (auto& s : all)
    std::erase_if(s.variables, [&](auto const& v) { return v.first != "P" && !kept.contains(v.first); });
  return all;
}

model_options how_to_fit(fit_arguments const& o) {
  auto how = o.how;
  how.how.weights = o.weights == "equal" ? weighting::equal : weighting::relative;
  how.residuals = !o.no_kriging;
  for (auto const& text : o.basis) {
    auto const equals = text.find('=');
    auto const key = equals == std::string::npos ? "" : text.substr(0, equals);
    auto const term = key.ends_with(".seconds") ? key.substr(0, key.size() - std::strlen(".seconds")) : key;
    if (!how.basis.emplace(term, equals == std::string::npos ? text : text.substr(equals + 1)).second)
      throw usage_error(fmt::format("--basis {}: found twice, expected once", term));
  }
  return how;
}

std::string errors_in_words(std::optional<held_out> const& e) {
  if (!e) return "held out: none, too few configurations; the error of extrapolation is unknown";
  return fmt::format(
      "held out: fitted to the {} smaller, predicted the {} larger: median error {}, 90th percentile {}",
      e->fitted, e->predicted, percent(e->median), percent(e->percentile_90));
}

std::string noise_in_words(std::optional<repetition_noise> const& n) {
  if (!n) return "noise from run to run: unknown, no configuration was repeated";
  return fmt::format("noise from run to run: median {}, 90th percentile {} ({} samples of {} configurations)",
                     percent(n->median), percent(n->percentile_90), n->samples, n->configurations);
}

void print_term(term const& t) {
  auto const& f = t.curve;
  fmt::print("\n{} {} ({} samples, R² {:.5f}, condition {:.3g}{})\n", t.phase, t.quantity, f.samples, f.r2,
             f.condition, t.chosen ? ", basis chosen" : "");
  table rows({"basis", "coefficient", fmt::format("{:.4g} % interval", 100 * f.confidence), ""});
  for (std::size_t i = 0; i < f.basis.size(); ++i)
    rows.add({"  " + to_string(f.basis[i]), fmt::format("{:.4g}", f.coefficients[i]),
              fmt::format("{:.4g}", f.low[i]), fmt::format("{:.4g}", f.high[i])});
  fmt::print("{}", rows.text());
  if (f.residuals)
    fmt::print(
        "  kriging of the residuals: error of predicting each configuration from the others {}, with the "
        "basis functions alone {}\n",
        percent(f.residuals->error), percent(f.residuals->without));
  if (!f.alternatives.empty()) {
    std::string others;
    for (auto const& a : f.alternatives | std::views::take(3))
      others += fmt::format("{}{} ({})", others.empty() ? "" : ", ", to_string(a.basis), percent(a.weight));
    fmt::print("  probability of these functions: {}; others: {}{}\n", percent(f.weight), others,
               f.alternatives.size() > 3 ? ", …" : "");
  }
  fmt::print("  {}\n  {}\n", errors_in_words(t.error), noise_in_words(t.noise));
  for (auto const& x : f.outliers)
    fmt::print("  outlier: {}: {:.4g}, expected {:.4g}\n", x.where, x.value, x.expected);
  for (auto const& w : f.warnings) fmt::print("  warning: {}\n", w);
}

void print_model(model const& m) {
  for (auto const& s : m.skeletons) {
    fmt::print("{}{}\n", s.name(), s.program.empty() ? "" : " of " + s.program);
    for (auto const& t : s.terms) print_term(t);
    std::string levels;
    for (auto const& [name, factor] : s.per_level)
      levels += fmt::format("{}{} {}", levels.empty() ? "" : ", ", name,
                            factor == 0.5 ? "is halved"
                            : factor == 1 ? "stays"
                                          : fmt::format("times {:.3g}", factor));
    if (!levels.empty()) fmt::print("\nwith each division: {}\n", levels);
    if (has_phases(s)) fmt::print("\nwhole runs, composed; {}\n", errors_in_words(s.error));
    fmt::print("\n");
  }
}

// A default output file is overwritten only if it is a model.
std::string output_of(fit_arguments const& o) {
  if (!o.output.empty() || o.json) return o.output;
  try {
    if (std::filesystem::exists(default_model)) std::ignore = model::read(default_model);
  } catch (std::exception const& e) {
    throw usage_error(fmt::format("{}: exists and is not a model; name another file with -o", e.what()));
  }
  return default_model;
}

void run(fit_arguments const& o) {
  auto const output = output_of(o);
  if (!o.plot.empty()) program::require_ending(o.plot, {".svg"});
  for (auto const* path : {&output, &o.plot, &o.extra_p})
    if (!path->empty()) program::check_writable(*path);
  auto const samples = samples_of(o);
  if (!o.extra_p.empty()) skel::write_file_atomically(o.extra_p, to_extra_p(samples));
  auto const m = fit_model(samples, how_to_fit(o));
  if (!o.plot.empty()) skel::write_file_atomically(o.plot, to_svg(fit_figures(m, samples)));
  if (!output.empty()) skel::write_file_atomically(output, m.to_json());
  if (o.json) {
    fmt::print("{}", m.to_json());
    return;
  }
  print_model(m);
  fmt::print("written: {}\n", output);
}

}  // namespace

command add_fit(CLI::App& program) {
  auto const o = std::make_shared<fit_arguments>();
  auto* const app = program.add_subcommand("fit", "fit costs to samples of runs");
  add_options(*app, *o);
  return {app, [o] { run(*o); }};
}

}  // namespace skel::model
