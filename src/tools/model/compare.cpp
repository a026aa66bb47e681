// skel-model compare: recommends a skeleton, schedule and number of ranks, with its confidence.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "model/statistics.hpp"
#include "program/help.hpp"
#include "skel/error.hpp"
#include "skel/model/predict.hpp"
#include "tools/model/choice.hpp"
#include "tools/model/commands.hpp"
#include "tools/model/race.hpp"
#include "tools/model/simulated.hpp"
#include "tools/model/table.hpp"

namespace skel::model {

using namespace program;

namespace {

using json = nlohmann::ordered_json;

struct compare_arguments {
  choice what;
  std::vector<int> ranks{1, 2, 4, 8};
  bool simulate = false;
  std::vector<std::string> schedules;
  std::vector<unsigned> group_sizes;
  simulation_options simulated;
  int seeds = 16;
  double tolerance = 0.05;
};

struct candidate {
  std::string name;
  int ranks = 1;
  double seconds = 0, deviation = 0, low = 0, high = 0;
  std::string by = "formula";
  simulated_times times{};
  std::string skeleton{}, schedule{};
};

void add_new(std::vector<std::string> const& found, std::vector<std::string>& all) {
  for (auto const& text : found)
    if (std::ranges::find(all, text) == all.end()) all.push_back(text);
}

candidate by_formula(skeleton_model const& m, machine const* where, int ranks, compare_arguments const& o,
                     std::vector<std::string>& warnings) {
  auto const e = predict(m, where, o.what.at(), ranks, o.what.how());
  auto const [low, high] = e.interval(o.what.confidence);
  add_new(e.warnings, warnings);
  return {m.name(), ranks, e.seconds(), e.deviation(), low, high, "formula", {}, m.skeleton, m.schedule};
}

// The skeletons of the model under all schedules and group sizes. All farms do the same work, so
// every schedule runs with the first model that has it, or with the first farm.
std::vector<simulated_run> runs_of(std::vector<skeleton_model const*> const& models,
                                   compare_arguments const& o) {
  std::vector<simulated_run> all;
  auto const add = [&](skeleton_model const& m, std::string const& schedule, unsigned group_size) {
    auto const same = [&](simulated_run const& r) {
      return r.model->skeleton == m.skeleton && r.schedule == schedule && r.group_size == group_size;
    };
    if (std::ranges::none_of(all, same)) all.push_back({&m, schedule, group_size, 1});
  };
  for (auto const* const m : models) {
    if (m->skeleton != "multi_host") add(*m, m->schedule, 0);
    if (m->skeleton == "multi_host" && o.group_sizes.empty())
      add(*m, m->schedule, group_size_of(m->schedule));
    if (m->skeleton == "multi_host")
      for (unsigned const size : o.group_sizes) add(*m, fmt::format("groups:size={}", size), size);
  }
  auto const farm = std::ranges::find(models, "farm", &skeleton_model::skeleton);
  if (farm == models.end()) {
    if (!o.schedules.empty()) throw usage_error("--schedules: the model contains no farm");
    return all;
  }
  for (auto const& schedule : o.schedules) add(**farm, schedule, 0);
  add(**farm, "auto", 0);
  return all;
}

std::vector<candidate> by_simulation(std::vector<skeleton_model const*> const& models, machine const* where,
                                     compare_arguments const& o, std::vector<std::string>& warnings) {
  simulator const cluster(o.simulated, where, o.what.at(), o.what.kind);
  std::vector<simulated_run> runs;
  for (int const ranks : o.ranks)
    for (auto r : runs_of(models, o)) {
      r.ranks = ranks;
      add_new(cluster.warnings(r), warnings);
      runs.push_back(r);
    }
  auto const times = race(cluster, runs, {o.seeds, o.tolerance, o.what.confidence});
  std::vector<candidate> all;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto const& t = times[i];
    all.push_back({runs[i].model->skeleton + " " + runs[i].schedule, runs[i].ranks, t.seconds,
                   t.deviation * t.seconds, t.low, t.high, "simulation", t, runs[i].model->skeleton,
                   runs[i].schedule});
  }
  return all;
}

// The probability that a is faster than b: from runs with the same tasks, or if their errors are
// independent and normal.
double probability_faster(candidate const& a, candidate const& b) {
  if (!a.times.logarithms.empty() && !b.times.logarithms.empty()) return probability_faster(a.times, b.times);
  double const spread = std::hypot(a.deviation, b.deviation);
  if (spread == 0) return a.seconds < b.seconds ? 1 : a.seconds > b.seconds ? 0 : 0.5;
  return normal_probability((b.seconds - a.seconds) / spread);
}

// The recommendation: the fastest candidate, or, within the tolerance, the one with the fewest
// ranks.
std::size_t best_of(std::vector<candidate> const& sorted, double tolerance) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i].seconds <= sorted.front().seconds * (1 + tolerance) && sorted[i].ranks < sorted[best].ranks)
      best = i;
  return best;
}

void print(std::vector<candidate> const& all, std::size_t best, compare_arguments const& o) {
  table rows({"", "", "ranks", "seconds", "from", "to", "by"});
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto const& c = all[i];
    rows.add({i == best ? "*" : "", c.name, std::to_string(c.ranks), fmt::format("{:.6g}", c.seconds),
              fmt::format("{:.6g}", c.low), fmt::format("{:.6g}", c.high), c.by});
  }
  fmt::print("{}", rows.text({0, 1, 6}));
  auto const& b = all[best];
  fmt::print("choose: {} on {} ranks, {:.6g} s\n", b.name, b.ranks, b.seconds);
  if (best != 0)
    fmt::print("  {} on {} ranks is faster by {}, which does not justify its ranks (--tolerance {})\n",
               all[0].name, all[0].ranks, percent(1 - all[0].seconds / b.seconds), o.tolerance);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == best || all[i].name == b.name) continue;
    if (b.deviation == 0 && all[i].deviation == 0) {
      fmt::print("  confidence against {} on {} ranks: unknown, because fixed costs have no error\n",
                 all[i].name, all[i].ranks);
      break;
    }
    double const p = probability_faster(b, all[i]);
    fmt::print("  confidence against {} on {} ranks: {:.0f} %{}\n", all[i].name, all[i].ranks, 100 * p,
               p < 0.9 ? " (too close to call: measure both)" : "");
    break;
  }
}

void run(compare_arguments const& o) {
  auto const m = o.what.fitted();
  auto const where = o.what.where();
  auto const* const machine_file = where ? &*where : nullptr;
  std::vector<candidate> all;
  std::vector<std::string> warnings;
  auto const chosen = o.what.of(m);
  if (o.simulate) {
    all = by_simulation(chosen, machine_file, o, warnings);
  } else {
    for (int const ranks : o.ranks)
      for (auto const* const s : chosen) all.push_back(by_formula(*s, machine_file, ranks, o, warnings));
  }
  auto const fixed = [](candidate const& c) { return c.by == "simulation" && c.deviation == 0; };
  if (std::ranges::any_of(all, fixed)) warnings.emplace_back(fixed_costs);
  std::ranges::stable_sort(all, {}, &candidate::seconds);
  auto const best = best_of(all, o.tolerance);
  if (!o.what.json) {
    print(all, best, o);
    for (auto const& w : warnings) fmt::print("warning: {}\n", w);
    return;
  }
  json object;
  object["candidates"] = json::array();
  for (std::size_t i = 0; i < all.size(); ++i)
    object["candidates"].push_back(
        {{"name", all[i].name},
         {"skeleton", all[i].skeleton},
         {"schedule", all[i].schedule},
         {"ranks", all[i].ranks},
         {"seconds", all[i].seconds},
         {"low", all[i].low},
         {"high", all[i].high},
         {"by", all[i].by},
         {"simulated_runs", all[i].times.logarithms.size()},
         {"chosen", i == best},
         {"probability_slower_than_chosen", probability_faster(all[best], all[i])}});
  object["warnings"] = warnings;
  fmt::print("{}\n", object.dump(1, ' ', false, json::error_handler_t::replace));
}

}  // namespace

command add_compare(CLI::App& program) {
  auto const o = std::make_shared<compare_arguments>();
  auto* const app = program.add_subcommand("compare", "recommend a skeleton, schedule and number of ranks");
  o->what.add_options(*app);
  o->what.add_size_options(*app);
  option(*app, "--ranks N,…", o->ranks, "numbers of ranks to compare", comma_list, shown_default,
         CLI::Range(1, 1 << 24));
  auto* const simulate = app->add_flag(
      "--simulate", o->simulate,
      "simulate every skeleton of the model, and farms under the schedule auto, instead of using formulas");
  option(*app, "--schedules SPEC;…", o->schedules, "with --simulate: farms under these schedules, too")
      ->delimiter(';')
      ->needs(simulate);
  option(*app, "--group-sizes N,…", o->group_sizes,
         "with --simulate of multi_host: ranks per group [those of the samples]", comma_list,
         CLI::Range(1, 1 << 24))
      ->needs(simulate);
  o->simulated.add_options(*app, simulate);
  option(*app, "--seeds", o->seeds,
         "with --simulate: most simulated runs per candidate, each with other costs of the tasks; "
         "clearly slower candidates get fewer",
         shown_default, CLI::Range(2, 1000));
  option(*app, "--tolerance", o->tolerance, "accepted slowdown of a candidate with fewer ranks",
         shown_default, CLI::Range(0.0, 10.0));
  return {app, [o] { run(*o); }};
}

}  // namespace skel::model
