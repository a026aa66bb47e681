// skel-model predict: predicts the time of a run, term by term.
#include "skel/model/predict.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "program/help.hpp"
#include "skel/error.hpp"
#include "tools/model/choice.hpp"
#include "tools/model/commands.hpp"
#include "tools/model/simulated.hpp"
#include "tools/model/table.hpp"

namespace skel::model {

using namespace program;

namespace {

using json = nlohmann::ordered_json;

struct predict_arguments {
  choice what;
  int ranks = 1;
  bool simulate = false;
  simulation_options simulated;
};

json to_json(estimate const& e, skeleton_model const& m, predict_arguments const& o) {
  auto const [low, high] = e.interval(o.what.confidence);
  json object;
  object["skeleton"] = m.skeleton;
  object["schedule"] = m.schedule;
  object["results"] = m.results;
  object["ranks"] = o.ranks;
  object["sizes"] = o.what.at();
  object["seconds"] = e.seconds();
  object["low"] = low;
  object["high"] = high;
  object["confidence"] = o.what.confidence;
  object["terms"] = json::array();
  for (auto const& p : e.parts)
    object["terms"].push_back(
        {{"phase", p.name}, {"level", p.level}, {"seconds", p.seconds}, {"how", p.how}});
  auto const& error = has_phases(m) ? m.error : m.find("run") != nullptr ? m.find("run")->error : m.error;
  if (error)
    object["held_out"] = {{"median_error", error->median}, {"percentile_90_error", error->percentile_90}};
  object["warnings"] = e.warnings;
  return object;
}

// Keeps the digits of microseconds.
std::string in_seconds(double x) {
  constexpr double small = 1e-3;
  return x == 0 || x >= small ? fmt::format("{:.6f}", x) : fmt::format("{:.4g}", x);
}

void print(estimate const& e, skeleton_model const& m, predict_arguments const& o) {
  auto const [low, high] = e.interval(o.what.confidence);
  std::string sizes;
  for (auto const& [name, value] : o.what.at()) sizes += fmt::format(", {} = {:.10g}", name, value);
  fmt::print("{}, {} rank{}{}\n", m.name(), o.ranks, o.ranks == 1 ? "" : "s", sizes);
  table rows({"term", "level", "seconds", "how"});
  for (auto const& p : e.parts) rows.add({p.name, std::to_string(p.level), in_seconds(p.seconds), p.how});
  fmt::print("{}", rows.text({0, 3}));
  fmt::print("predicted: {} s, {:.4g} % interval {} to {} s\n", in_seconds(e.seconds()),
             100 * o.what.confidence, in_seconds(low), in_seconds(high));
  auto const& error = has_phases(m) ? m.error : m.find("run") != nullptr ? m.find("run")->error : m.error;
  if (error)
    fmt::print("error on held-out larger runs: median {}, 90th percentile {}\n", percent(error->median),
               percent(error->percentile_90));
  else
    fmt::print("error on held-out runs: unknown, too few whole runs in the samples\n");
  for (auto const& w : e.warnings) fmt::print("warning: {}\n", w);
}

estimate by_simulation(skeleton_model const& m, simulator const& cluster, predict_arguments const& o) {
  simulated_run r;
  r.model = &m;
  r.schedule = m.schedule;
  r.group_size = group_size_of(m.schedule);
  r.ranks = o.ranks;
  bool const drawn =
      !o.simulated.costs.empty() && m.skeleton != "multi_host" && m.skeleton != "divide_and_conquer";
  part p;
  p.name = "simulated run";
  p.seconds = cluster.seconds({{r, drawn ? std::optional<std::uint64_t>(1) : std::nullopt}}).front();
  p.how = "skel-simulate";
  auto warnings = cluster.warnings(r);
  warnings.emplace_back(
      drawn ? "simulated with one draw of the costs: the interval contains no error, that of compare does"
            : fixed_costs);
  return {{p}, std::move(warnings)};
}

void run(predict_arguments const& o) {
  auto const m = o.what.fitted();
  auto const where = o.what.where();
  auto const* const machine_file = where ? &*where : nullptr;
  json all = json::array();
  bool first = true;
  auto const cluster = o.simulate ? std::optional<simulator>(std::in_place, o.simulated, machine_file,
                                                             o.what.at(), o.what.kind)
                                  : std::nullopt;
  for (auto const* const s : o.what.of(m)) {
    auto const e = cluster ? by_simulation(*s, *cluster, o)
                           : predict(*s, machine_file, o.what.at(), o.ranks, o.what.how());
    if (o.what.json) {
      all.push_back(to_json(e, *s, o));
    } else {
      if (!first) fmt::print("\n");
      print(e, *s, o);
    }
    first = false;
  }
  if (o.what.json) fmt::print("{}\n", all.dump(1, ' ', false, json::error_handler_t::replace));
}

}  // namespace

command add_predict(CLI::App& program) {
  auto const o = std::make_shared<predict_arguments>();
  auto* const app =
      program.add_subcommand("predict", "predict the time of a run, with an interval and its terms");
  o->what.add_options(*app);
  o->what.add_size_options(*app);
  option(*app, "--ranks", o->ranks, "number of ranks", shown_default, CLI::Range(1, 1 << 24));
  auto* const simulate =
      app->add_flag("--simulate", o->simulate, "simulate a cluster instead of using a formula");
  o->simulated.add_options(*app, simulate);
  return {app, [o] { run(*o); }};
}

}  // namespace skel::model
