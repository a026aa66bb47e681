// skel-model compare: recommends a skeleton, schedule and number of ranks, with its confidence.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "model/statistics.hpp"
#include "skel/error.hpp"
#include "skel/model/predict.hpp"
#include "tools/model/choice.hpp"
#include "tools/model/commands.hpp"
#include "tools/model/simulated.hpp"
#include "tools/model/table.hpp"

namespace skel::model {

namespace {

using json = nlohmann::ordered_json;

struct compare_arguments {
  choice what;
  std::vector<int> ranks{1, 2, 4, 8};
  std::vector<std::string> schedules;
  std::string costs, platform;
  int seeds = 3;
  double tolerance = 0.05;
};

struct candidate {
  std::string name;
  int ranks = 1;
  double seconds = 0, deviation = 0, low = 0, high = 0;
  std::string by = "formula";
};

candidate by_formula(skeleton_model const& m, machine const* where, int ranks, compare_arguments const& o,
                     std::vector<std::string>& warnings) {
  auto const e = predict(m, where, o.what.at(), ranks, o.what.how());
  auto const [low, high] = e.interval(o.what.confidence);
  for (auto const& w : e.warnings)
    if (std::ranges::find(warnings, w) == warnings.end()) warnings.push_back(w);
  return {m.name(), ranks, e.seconds(), e.deviation(), low, high};
}

// The spread over the seeds is the uncertainty: the mean cost of a task is the same for all
// schedules.
candidate by_simulation(skeleton_model const& m, machine const* where, int ranks, std::string const& schedule,
                        compare_arguments const& o) {
  candidate c;
  c.name = "farm " + schedule;
  c.ranks = ranks;
  c.by = "simulation";
  std::vector<double> all;
  for (int seed = 1; seed <= o.seeds; ++seed) {
    simulation s;
    s.schedule = schedule;
    s.costs = o.costs;
    s.platform = o.platform;
    s.ranks = ranks;
    s.seed = static_cast<std::uint64_t>(seed);
    all.push_back(simulated_seconds(m, where, o.what.at(), s, o.what.kind));
    if (o.costs.find(':') == std::string::npos) break;  // a file gives the same costs for every seed
  }
  for (double const t : all) c.seconds += t / static_cast<double>(all.size());
  for (double const t : all) c.deviation += (t - c.seconds) * (t - c.seconds);
  if (all.size() > 1) c.deviation = std::sqrt(c.deviation / static_cast<double>(all.size() - 1));
  c.low = *std::ranges::min_element(all);
  c.high = *std::ranges::max_element(all);
  return c;
}

// The probability that a is faster than b, if their errors are independent and normal.
double probability_faster(candidate const& a, candidate const& b) {
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
  for (int const ranks : o.ranks) {
    for (auto const* const s : chosen) all.push_back(by_formula(*s, machine_file, ranks, o, warnings));
    for (auto const& schedule : o.schedules)
      all.push_back(by_simulation(*chosen.front(), machine_file, ranks, schedule, o));
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
         {"ranks", all[i].ranks},
         {"seconds", all[i].seconds},
         {"low", all[i].low},
         {"high", all[i].high},
         {"by", all[i].by},
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
  app->add_option("--ranks", o->ranks, "numbers of ranks to compare")
      ->type_name("N,…")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 24));
  app->add_option("--schedules", o->schedules, "also compare farms under these schedules, simulated")
      ->type_name("SPEC;…")
      ->delimiter(';');
  app->add_option("--costs", o->costs, "costs of the simulated tasks [each the mean of the model]")
      ->type_name("FILE.csv|DISTRIBUTION");
  app->add_option("--platform", o->platform, "simulated platform [equal machines, l and g of --machine]")
      ->type_name("FILE.json|NAME");
  app->add_option("--seeds", o->seeds,
                  "simulated runs per candidate, each with other costs drawn from the distribution")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app->add_option("--tolerance", o->tolerance, "accepted slowdown of a candidate with fewer ranks")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 10.0));
  return {app, [o] { run(*o); }};
}

}  // namespace skel::model
