// skel-simulate: a skeleton with given task costs on a simulated cluster; docs/simulation.md.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cstdio>
#include <numeric>

#include "program/options.hpp"
#include "program/paths.hpp"
#include "program/run_files.hpp"
#include "skel/error.hpp"
#include "skel/farm.hpp"
#include "skel/sim/run.hpp"
#include "tools/simulate/costs.hpp"
#if SKEL_SIMULATE_SEARCH
#include "jobs.hpp"
#endif
#include "values/duration.hpp"
#include "values/one_line.hpp"

namespace {

constexpr char const* program_name = "skel-simulate";
#if SKEL_SIMULATE_SEARCH
std::vector<std::string> const skeletons{"farm", "ring_steal"};
#else
std::vector<std::string> const skeletons{"farm"};
#endif

struct options {
  skel::program::common_options common;
  std::string platform = "lee-1997-14";
  bool list = false;
  std::optional<int> ranks;
  std::string skeleton = "farm";
  std::string tree = "T1";
  std::string take = "half";
  std::optional<std::uint64_t> tasks;
  std::string costs = "exponential:1s";
  std::uint64_t seed = 1;
  std::size_t result_bytes = 8;
  std::vector<std::string> failures;
  std::string suspect_after = "5s";
};

void add_options(CLI::App& app, options& o) {
  auto const group = "Simulation";
  app.add_option("--platform", o.platform, "a JSON file, or the name of a ready platform")
      ->type_name("FILE.json|NAME")
      ->capture_default_str()
      ->group(group);
  app.add_flag("--list-platforms", o.list, "name the ready platforms, and end")->group(group);
  app.add_option("--ranks", o.ranks, "take the first N machines of the platform only")
      ->type_name("N")
      ->group(group);
  app.add_option("--skeleton", o.skeleton, "what runs on it")
      ->capture_default_str()
      ->check(CLI::IsMember(skeletons))
      ->group(group);
#if SKEL_SIMULATE_SEARCH
  app.add_option("--tree", o.tree,
                 "ring_steal: the UTS tree to search, as in skel-search; --costs gives a node's cost")
      ->capture_default_str()
      ->group(group);
  app.add_option("--take", o.take, "ring_steal: what a thief is given, one task or half of them")
      ->capture_default_str()
      ->check(CLI::IsMember({"one", "half"}))
      ->group(group);
#endif
  app.add_option("--tasks", o.tasks, "number of tasks [the lines of a costs file]")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->group(group);
  app.add_option("--costs", o.costs,
                 "seconds per task at power 1: constant:C, uniform:LOW,HIGH, exponential:MEAN, "
                 "pareto:LEAST,SHAPE, a file with one number per line, or a samples file")
      ->type_name("FILE.csv|DISTRIBUTION")
      ->capture_default_str()
      ->group(group);
  app.add_option("--seed", o.seed, "of the distribution")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option("--result-bytes", o.result_bytes, "size of a result")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 30))
      ->group(group);
  app.add_option(
         "--fail", o.failures,
         "this rank dies at this virtual time, or when the root has had so many results (may be repeated)")
      ->type_name("RANK@SECONDS|RANK@Nresults")
      ->group(group);
  app.add_option("--suspect-after", o.suspect_after, "silence after which a rank is taken for lost")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->group(group);
}

// A rank dies at a time, or at a number of results.
struct planned_failure {
  skel::sim::failure at;
  std::optional<std::uint64_t> results;
};

planned_failure parse_failure(std::string const& text, int ranks) {
  planned_failure planned;
  auto& f = planned.at;
  auto const at = text.find('@');
  auto const first = std::string_view(text).substr(0, at);
  auto const [end, error] = std::from_chars(first.data(), first.data() + first.size(), f.rank);
  if (at == std::string::npos || error != std::errc{} || end != first.data() + first.size())
    throw skel::usage_error(fmt::format("--fail: expected RANK@SECONDS or RANK@Nresults, got \"{}\"", text));
  if (f.rank < 0 || f.rank >= ranks)
    throw skel::usage_error(fmt::format("--fail: there are ranks 0 to {}, got {}", ranks - 1, f.rank));
  auto const when = std::string_view(text).substr(at + 1);
  constexpr std::string_view unit = "results";
  if (when.ends_with(unit)) {
    std::uint64_t n = 0;
    auto const count = when.substr(0, when.size() - unit.size());
    auto const [stop, bad] = std::from_chars(count.data(), count.data() + count.size(), n);
    if (bad != std::errc{} || stop != count.data() + count.size() || n == 0)
      throw skel::usage_error(fmt::format("--fail: expected a number of results, got \"{}\"", when));
    planned.results = n;
  } else {
    f.at_seconds = skel::detail::parse_duration(when).count();
  }
  return planned;
}

void list_platforms() {
  for (auto const& p : skel::sim::ready_platforms()) fmt::print("{:<16} {}\n", p.name, p.about);
}

// What travels back; its bytes say whose it is, so that the root can check every single one.
std::vector<std::uint8_t> result_of(std::uint64_t task, std::size_t bytes) {
  std::vector<std::uint8_t> r(bytes);
  for (std::size_t i = 0; i < bytes; ++i) r[i] = static_cast<std::uint8_t>(task >> (i % 8 * 8));
  return r;
}

struct result {
  skel::program::run_outcome run;
  std::vector<skel::observe::rank_trace> traces;
  std::uint64_t wrong = 0;
};

void simulate_farm(skel::context& ctx, options const& o, std::vector<double> const& costs,
                   std::vector<planned_failure> const& failures, result& out) {
  std::uint64_t had = 0;
  skel::farm_options how;
  how.results = o.common.results();
  how.root = o.common.root_works ? skel::root_role::works : skel::root_role::serves;
  auto const r = skel::farm(
      ctx, skel::indices(costs.size()),
      [&](std::uint64_t task) {
        skel::sim::spend(costs[task]);
        return result_of(task, o.result_bytes);
      },
      o.common.schedule(),
      [&](skel::task_id task, std::vector<std::uint8_t>&& got) {
        if (got != result_of(task, o.result_bytes)) ++out.wrong;
        ++had;
        for (auto const& f : failures)
          if (f.results == had) skel::sim::kill(f.at.rank);
      },
      how);
  if (!ctx.is_root()) return;
  out.run.run = r;
  out.traces = ctx.traces();
}

#if SKEL_SIMULATE_SEARCH
// A search whose nodes cost virtual time.
struct simulated_search : skel::search::tree_search {
  double node_seconds = 0;
  void run(task const& n, skel::spawner<task>& more, result& found) const {
    skel::sim::spend(node_seconds);
    tree_search::run(n, more, found);
  }
};

// The cost of all nodes at power 1.
double simulate_search(skel::context& ctx, options const& o, double node_seconds, result& out) {
  auto const tree = skel::search::parse_tree(o.tree);
  simulated_search const job{{skel::search::uts_tree(tree.parameters)}, node_seconds};
  skel::ring_steal_options how;
  how.take = o.take == "one" ? skel::one : skel::half;
  auto const root = [&] { return std::array{job.tree.root()}; };
  auto const r = skel::ring_steal(ctx, skel::on_root(root), job, how);
  double const cost = static_cast<double>(r.result.nodes) * node_seconds;
  if (!ctx.is_root()) return cost;
  out.run.run = r.report;
  out.traces = ctx.traces();
  if (tree.published && !(*tree.published == r.result)) ++out.wrong;
  return cost;
}
#endif

void print_table(skel::report const& r, skel::sim::platform const& p, double cost, double ideal) {
  double power = 0;
  for (auto const& m : p.machines) power += m.power;
  auto const row = [](char const* name, std::string const& value) { fmt::print("{:<18} {}\n", name, value); };
  row("platform", fmt::format("{}: {} ranks, total power {:.6g}", p.name, p.ranks(), power));
  row("skeleton", fmt::format("{} {} {}", r.skeleton, r.schedule, r.results));
  row("tasks", fmt::format("{}, {:.6g} s at power 1", r.tasks, cost));
  row("virtual seconds", fmt::format("{:.6g}", r.seconds));
  row("ideal seconds", fmt::format("{:.6g}", ideal));
  row("efficiency", fmt::format("{:.3f}", r.seconds > 0 ? ideal / r.seconds : 0));
  row("messages per rank", fmt::format("{:.1f}, {} in all with {} bytes",
                                       static_cast<double>(r.messages) / r.ranks, r.messages, r.bytes));
  row("handed out again", fmt::format("{} tasks", r.tasks_handed_out_again));
  row("lost ranks", r.lost_ranks.empty() ? "none" : fmt::format("{}", fmt::join(r.lost_ranks, " ")));
}

int simulate(options const& o) {
  auto platform = skel::sim::platform::find(o.platform);
  if (o.ranks) platform.take(*o.ranks);
  std::vector<planned_failure> failures;
  for (auto const& text : o.failures) {
    failures.push_back(parse_failure(text, platform.ranks()));
    if (!failures.back().results) platform.failures.push_back(failures.back().at);
  }
  bool const searches = o.skeleton != "farm";
  auto const costs = skel::simulate::task_costs(o.costs, searches ? 1 : o.tasks, o.seed);
  double cost = std::accumulate(costs.begin(), costs.end(), 0.0);
  skel::program::check_outputs(o.common);
  skel::sim::run_options how;
  how.program = program_name;
  how.trace = !o.common.trace.empty();
  how.suspect_after_seconds = skel::detail::parse_duration(o.suspect_after).count();

  result out;
  auto const end = skel::sim::run(
      platform,
      [&](skel::context& ctx) {
#if SKEL_SIMULATE_SEARCH
        if (searches) {
          double const all = simulate_search(ctx, o, costs.front(), out);
          if (ctx.is_root()) cost = all;
          return;
        }
#endif
        simulate_farm(ctx, o, costs, failures, out);
      },
      how);
  if (!end.failure.empty()) throw skel::error(end.failure);
  if (end.exit_code != 0) return end.exit_code;  // said already
  if (out.wrong > 0) throw skel::error(fmt::format("{} results are wrong", out.wrong));

  auto const& r = out.run.run;
  double const ideal = platform.ideal_seconds(cost, !o.common.root_works);
  out.run.fields = {{"simulated", true},
                    {"platform", platform.name},
                    {"costs", o.costs},
                    {"cost_seconds_at_power_1", cost},
                    {"ideal_seconds", ideal},
                    {"efficiency", r.seconds > 0 ? ideal / r.seconds : 0},
                    {"messages_per_rank", static_cast<double>(r.messages) / r.ranks}};
  out.run.problem = {{"platform", platform.name}, {"costs", o.costs}};
  skel::program::write_run_files(o.common, program_name, out.run, out.traces);
  if (!o.common.quiet) print_table(r, platform, cost, ideal);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app("Runs a skeleton with given task costs on a simulated cluster.", program_name);
  app.set_version_flag("--version", std::string(program_name) + " " + SKEL_VERSION);
  add_options(app, o);
  skel::program::add_schedule_options(app, o.common);
  skel::program::add_report_options(app, o.common);
  try {
    app.parse(argc, argv);
    if (o.list) {
      list_platforms();
      return 0;
    }
    return simulate(o);
  } catch (CLI::Success const& request) {
    return app.exit(request);
  } catch (CLI::ParseError const& bad) {
    fmt::print(stderr, "{}: {}\n", program_name, skel::detail::one_line(bad.what()));
    return 2;
  } catch (skel::usage_error const& bad) {
    fmt::print(stderr, "{}: {}\n", program_name, skel::detail::one_line(bad.what()));
    return 2;
  } catch (std::exception const& bad) {
    fmt::print(stderr, "{}: {}\n", program_name, skel::detail::one_line(bad.what()));
    return 1;
  }
}
