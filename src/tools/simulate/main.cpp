// skel-simulate: runs a skeleton on a simulated cluster; see docs/reference/simulation.md.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <functional>
#include <numeric>
#include <thread>

#include "base/text.hpp"
#include "program/paths.hpp"
#include "program/run_tool.hpp"
#include "skel/atomic_file.hpp"
#include "skel/error.hpp"
#include "skel/sim/run.hpp"
#include "tools/calibration/calibrate.hpp"
#include "tools/simulate/costs.hpp"
#include "tools/simulate/layer_costs.hpp"
#include "tools/simulate/simulation.hpp"

namespace {

using namespace skel::program;
using namespace skel::simulate;

std::vector<std::string> skeletons_of(options const& o) {
  std::vector<std::string> all{"farm", "ring_steal", "multi_host", "bsp", "calibrate"};
  for (auto const& job : o.jobs)
    if (std::ranges::find(all, job->skeleton()) == all.end()) all.insert(all.begin() + 2, job->skeleton());
  return all;
}

planned_failure parse_failure(std::string const& text, int ranks) {
  planned_failure planned;
  auto& f = planned.at;
  auto const at = text.find('@');
  auto const first = std::string_view(text).substr(0, at);
  auto const rank = skel::detail::to_number<int>(first);
  if (at == std::string::npos || !rank)
    throw skel::usage_error(
        fmt::format("--fail: expected RANK@SECONDS or RANK@Nresults, found \"{}\"", text));
  f.rank = *rank;
  if (f.rank < 0 || f.rank >= ranks)
    throw skel::usage_error(fmt::format("--fail: found rank {1}, expected 0 to {0}", ranks - 1, f.rank));
  auto const when = std::string_view(text).substr(at + 1);
  constexpr std::string_view unit = "results";
  if (when.ends_with(unit)) {
    auto const n = skel::detail::to_number<std::uint64_t>(when.substr(0, when.size() - unit.size()));
    if (n.value_or(0) == 0)
      throw skel::usage_error(fmt::format("--fail: expected a number of results, found \"{}\"", when));
    planned.results = *n;
  } else {
    f.at_seconds = skel::detail::parse_duration(when).count();
  }
  return planned;
}

// Rejects options that do not apply to this skeleton. The name of an option group starts with its
// skeleton's name.
void check_skeleton_options(CLI::App const& app, options const& of) {
  auto const& skeleton = of.skeleton;
  auto const skeletons = skeletons_of(of);
  auto const refuse = [&](std::string const& name, std::string const& owners) {
    throw skel::usage_error(fmt::format("{} applies to --skeleton {}, not to {}", name, owners, skeleton));
  };
  for (auto const* const o : app.get_options([](CLI::Option const* o) { return o->count() > 0; })) {
    auto const owner = o->get_group().substr(0, o->get_group().find(':'));
    if (owner != skeleton && std::ranges::find(skeletons, owner) != skeletons.end())
      refuse(o->get_name(), owner);
  }
  if (app.count("--layer-costs") > 0 && app.count("--result-bytes") > 0)
    throw skel::usage_error("--result-bytes: a file of --layer-costs has the bytes of results");
  constexpr std::pair<char const*, std::string_view> shared[] = {{"--schedule", "farm"},
                                                                 {"--results", "farm"},
                                                                 {"--root", "farm"},
                                                                 {"--tasks", "farm or ring_steal"},
                                                                 {"--costs", "farm, ring_steal or bsp"},
                                                                 {"--result-bytes", "farm or multi_host"}};
  for (auto const& [name, owners] : shared)
    if (app.count(name) > 0 && owners.find(skeleton) == std::string_view::npos)
      refuse(name, std::string(owners));
}

void list_platforms() {
  for (auto const& p : skel::sim::ready_platforms()) fmt::print("{:<16} {}\n", p.name, p.about);
}

// An option with a default.
template <class Value, class... Trait>
CLI::Option* add(CLI::App& app, char const* group, char const* name, Value& value, char const* text,
                 Trait const&... traits) {
  return option(app, name, value, text, shown_default, in_group{group}, traits...);
}

void add_group_options(CLI::App& app, group_options& o) {
  auto const* const group = "multi_host: slices that hosts read, rows that workers process";
  add(app, group, "--units", o.layers.units, "number of layers between slices", CLI::Range(0, 1'000'000));
  add(app, group, "--rows", o.layers.rows, "rows per layer", CLI::Range(1, 1'000'000));
  add(app, group, "--read-seconds", o.layers.read_seconds, "seconds to read a slice at power 1",
      CLI::Range(0.0, 1e6));
  add(app, group, "--unit-seconds", o.layers.unit_seconds, "seconds to process a layer at power 1",
      CLI::Range(0.0, 1e6));
  add(app, group, "--surface-share", o.layers.surface_share,
      "share of the layers, from the first on, that contain all work", CLI::Range(0.0, 1.0));
  option(app, "--layer-costs FILE.csv", o.layers.file,
         "costs of reading and of rows written by skel-isosurface --trace-costs, scaled to the means "
         "--read-seconds and --unit-seconds; bytes are as traced",
         in_group{group});
  add(app, group, "--row-bytes", o.layers.row_bytes,
      "bytes per row of a packet; a packet of n rows has n + 1",
      CLI::Range(std::size_t{0}, std::size_t{1} << 24));
  add(app, group, "--disks", o.disks.disks, "number of hosts that can read or write simultaneously; 0: all");
  app.add_flag("--computed-slices", o.disks.computed_slices, "slices are computed: only writing needs a disk")
      ->group(group);
  add(app, group, "--write-bandwidth", o.disks.write_bandwidth,
      "bytes per second with which each host writes its results, layer by layer; 0: it does not",
      CLI::Range(0.0, 1e15));
  add(app, group, "--group-size", o.group_size, "ranks per group; 0: determined from the first units");
  app.add_flag("--preload", o.preload, "read the first slices before the clock starts")->group(group);
  add(app, group, "--sink", o.sink, "destination of results", CLI::IsMember({"root", "hosts"}));
  option(app, "--without", o.without, "disable a measure; may be repeated",
         CLI::IsMember({"reassign", "split", "host-helps", "read-ahead", "rows"}), in_group{group})
      ->allow_extra_args(false);
  rarely_used(app, {"--surface-share", "--layer-costs", "--row-bytes", "--computed-slices",
                    "--write-bandwidth", "--preload", "--without"});
}

void add_superstep_options(CLI::App& app, superstep_options& o) {
  auto const* const group = "bsp: supersteps; --costs gives the cost of a rank's share of a superstep";
  add(app, group, "--supersteps N", o.supersteps, "number of supersteps",
      CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}));
  add(app, group, "--pattern", o.pattern,
      "ranks that receive a rank's messages: the two next to it, the same named as neighbours, or all others",
      CLI::IsMember({"ring", "neighbours", "all"}));
  add(app, group, "--message-bytes N", o.message_bytes, "bytes per message",
      CLI::Range(std::size_t{0}, std::size_t{1} << 30));
}

void add_stealing_options(CLI::App& app, stealing_options& o) {
  auto const* const group = "ring_steal: search of a tree";
  add(app, group, "--take", o.take, "tasks that a thief receives: one or half",
      CLI::IsMember({"one", "half"}));
  add(app, group, "--order successors|predecessors|doubling", o.order,
      "order in which a thief asks its victims along the ring",
      CLI::IsMember({"successors", "predecessors", "doubling"}));
}

void add_options(CLI::App& app, options& o) {
  auto const* const group = "Simulation";
  auto* const platform = add(app, group, "--platform FILE.json|NAME", o.cluster.platform,
                             "JSON file or name of a built-in platform");
  option(app, "--batch FILE", o.batch,
         "run several simulations, one per core at a time: a file with one word of their options per "
         "line, and an empty line after each simulation",
         in_group{group})
      ->excludes(platform);
  app.add_flag("--list-platforms", o.list, "list the built-in platforms and exit")->group(group);
  option(app, "--ranks N", o.cluster.ranks, "use only the first N machines of the platform", in_group{group});
  add(app, group, "--skeleton", o.skeleton, "skeleton to simulate", CLI::IsMember(skeletons_of(o)));
  for (auto const& job : o.jobs) job->add_options(app);
  add_stealing_options(app, o.stealing);
  add_group_options(app, o.groups);
  add_superstep_options(app, o.supersteps);
  option(app, "--machine FILE.json", o.machine, "machine file to write, for skel-model",
         in_group{"calibrate: l and g"});
  auto* const tasks =
      option(app, "--tasks N", o.work.tasks,
             "number of tasks [lines of the costs file]; ring_steal: run a list instead of a search",
             in_group{group}, CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  if (auto* const tree = app.get_option_no_throw("--tree")) tasks->excludes(tree);
  add(app, group, "--costs FILE.csv|DISTRIBUTION", o.work.costs,
      "seconds per task at power 1: constant:C, uniform:LOW,HIGH, exponential:MEAN, pareto:LEAST,SHAPE, "
      "a file with one number per line, or a samples file");
  add(app, group, "--seed N", o.work.seed, "seed of the distribution");
  add(app, group, "--result-bytes N", o.work.result_bytes, "bytes per result",
      CLI::Range(std::size_t{0}, std::size_t{1} << 30));
  app.add_flag("--longest-first", o.work.longest_first,
               "the farm knows the costs: the most costly tasks begin first")
      ->group("farm: tasks of known cost");
  option(app, "--fail RANK@SECONDS|RANK@Nresults", o.cluster.failures,
         "kill this rank at this virtual time, or when the root has received N results; may be repeated",
         in_group{group});
  add(app, group, "--suspect-after SECONDS", o.cluster.suspect_after,
      "silence after which a rank is declared dead");
  rarely_used(app, {"--result-bytes", "--suspect-after", "--longest-first"});
}

void print_table(skel::report const& r, skel::sim::platform const& p, double cost, double ideal) {
  double power = 0;
  for (auto const& m : p.machines) power += m.power;
  auto const row = [](char const* name, std::string const& value) { fmt::print("{:<18} {}\n", name, value); };
  row("platform", fmt::format("{}: {} ranks, total power {:.6g}", p.name, p.ranks(), power));
  row("skeleton", fmt::format("{} {} {}", r.skeleton, r.schedule, r.results));
  char const* const tasks = r.skeleton == "bsp" ? "supersteps" : "tasks";
  row(tasks, fmt::format("{}, {:.6g} s at power 1", r.tasks, cost));
  for (auto const& part : r.phases)
    row(fmt::format("{} {}", part.phase, part.level).c_str(), fmt::format("{:.6g}", part.seconds));
  row("virtual seconds", fmt::format("{:.6g}", r.seconds));
  row("ideal seconds", fmt::format("{:.6g}", ideal));
  row("efficiency", fmt::format("{:.3f}", r.seconds > 0 ? ideal / r.seconds : 0));
  row("messages per rank", fmt::format("{:.1f}, {} in total with {} bytes",
                                       static_cast<double>(r.messages) / r.ranks, r.messages, r.bytes));
  if (r.groups) {
    auto const& g = *r.groups;
    row("groups", fmt::format("{} of {} ranks, {} moved, {} shares split, {} taken over", g.sizes.size(),
                              g.sizes.empty() ? 0 : g.sizes.front(), g.reassigned, g.split, g.taken_over));
    row("slices read", fmt::format("{}, {:.6g} s each", g.units_read, g.read_seconds));
    row("idle", fmt::format("hosts {:.4g} s, workers {:.4g} s, spread {:.4g} s", g.host_idle_seconds,
                            g.worker_idle_seconds, g.worker_idle_spread));
    if (g.preload_seconds > 0) row("preloading", fmt::format("{:.6g} s", g.preload_seconds));
  }
  row("handed out again", fmt::format("{} {}", r.tasks_handed_out_again, tasks));
  row("lost ranks", r.lost_ranks.empty() ? "none" : fmt::format("{}", fmt::join(r.lost_ranks, " ")));
}

// Returns the function that every rank of the simulated cluster runs.
std::function<void(skel::context&)> body_of(options const& o, int ranks,
                                            std::vector<planned_failure> const& failures, result& out) {
  if (o.skeleton == "calibrate")
    return [&o](skel::context& ctx) {
      auto m = skel::model::calibrate(ctx);
      m.name = o.cluster.platform;
      if (ctx.is_root()) skel::write_file_atomically(o.machine, m.to_json());
    };
  auto const ring =
      skel::any_schedule(fmt::format("ring:take={},order={}", o.stealing.take, o.stealing.order)).policy();
  skel::schedule::stealing const steal{ring.take, ring.order};
  if (!o.work.tasks || o.skeleton != "ring_steal")
    for (auto const& job : o.jobs)
      if (job->skeleton() == o.skeleton)
        return job->start({o.common, o.work.seed, task_costs(o.work.costs, 1, o.work.seed).front(), steal},
                          out);
  if (o.skeleton == "multi_host")
    return [&o, &out, costs = std::make_shared<layer_costs>(o.groups.layers, o.work.result_bytes),
            shared = std::make_shared<std::shared_ptr<void>>()](skel::context& ctx) {
      simulate_groups(ctx, o.groups, *costs, out, *shared);
    };
  if (o.skeleton == "bsp") {
    auto costs =
        task_costs(o.work.costs, o.supersteps.supersteps * static_cast<std::uint64_t>(ranks), o.work.seed);
    out.cost = std::accumulate(costs.begin(), costs.end(), 0.0);
    return [&, costs = std::move(costs)](skel::context& ctx) {
      simulate_supersteps(ctx, o.supersteps, costs, out);
    };
  }
  if (o.skeleton == "ring_steal" && !o.work.tasks)
    throw skel::usage_error("--skeleton ring_steal: missing --tasks N");
  auto costs = task_costs(o.work.costs, o.work.tasks, o.work.seed);
  out.cost = std::accumulate(costs.begin(), costs.end(), 0.0);
  if (o.skeleton == "ring_steal")
    return [&, steal, costs = std::move(costs)](skel::context& ctx) {
      simulate_stealing(ctx, steal, costs, out);
    };
  return [&, costs = std::move(costs)](skel::context& ctx) { simulate_farm(ctx, o, costs, failures, out); };
}

void leave_report(options const& o, skel::sim::platform const& platform, result& out) {
  auto const& r = out.run.run;
  double const ideal = platform.ideal_seconds(out.cost, !o.common.of_farm.root_works);
  bool const tasks = r.skeleton != "divide_and_conquer" && r.skeleton != "multi_host";
  out.run.fields = {{"simulated", true},
                    {"platform", platform.name},
                    {"cost_seconds_at_power_1", out.cost},
                    {"ideal_seconds", ideal},
                    {"efficiency", r.seconds > 0 ? ideal / r.seconds : 0},
                    {"messages_per_rank", static_cast<double>(r.messages) / r.ranks}};
  if (tasks) out.run.fields.emplace_back("costs", o.work.costs);
  if (o.work.longest_first) out.run.fields.emplace_back("longest_first", true);
  out.run.problem.insert(out.run.problem.begin(), {"platform", platform.name});
  if (tasks) out.run.problem.emplace_back("costs", o.work.costs);
  write_run_files(o.common, simulator_name, out.run, out.traces);
  if (!o.common.quiet) print_table(r, platform, out.cost, ideal);
}

// A run that ends before its losses looks like one that survived them. Ranks say farewell for a while after
// the skeleton's end, when a loss changes nothing.
void report_what_never_came(options const& o, std::vector<planned_failure> const& failures,
                            skel::report const& run, double all_seconds) {
  double const end = run.skeleton.empty() ? all_seconds : run.seconds;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    auto const& [at, after] = failures[i];
    if (after ? *after <= run.tasks : at.at_seconds <= end) continue;
    if (std::ranges::find(run.lost_ranks, at.rank) != run.lost_ranks.end()) continue;
    auto const why = after ? fmt::format("the root received only {} results", run.tasks)
                           : fmt::format("the run ended after {:.6g} virtual seconds", end);
    fmt::print(stderr, "{}: --fail {} never came: {}\n", simulator_name, o.cluster.failures[i], why);
  }
}

int simulate(options const& o) {
  auto platform = skel::sim::platform::find(o.cluster.platform);
  if (o.cluster.ranks) platform.take(*o.cluster.ranks);
  std::vector<planned_failure> failures;
  for (auto const& text : o.cluster.failures) {
    failures.push_back(parse_failure(text, platform.ranks()));
    if (failures.back().results && o.skeleton != "farm")
      throw skel::usage_error(fmt::format(
          "--fail {}: results are counted only in a farm, expected RANK@SECONDS for {}", text, o.skeleton));
    if (!failures.back().results) platform.failures.push_back(failures.back().at);
  }
  check_outputs(o.common);
  if (!o.machine.empty()) check_writable(o.machine);
  if (o.skeleton == "calibrate" && o.machine.empty())
    throw skel::usage_error("--skeleton calibrate: missing --machine FILE.json");
  skel::sim::run_options how;
  how.program = simulator_name;
  how.trace = o.common.traces();
  how.suspect_after_seconds = skel::detail::parse_duration(o.cluster.suspect_after).count();

  result out;
  auto const end = skel::sim::run(platform, body_of(o, platform.ranks(), failures, out), how);
  if (!end.failure.empty()) throw skel::error(end.failure);
  if (end.exit_code != 0) return end.exit_code;  // already reported
  if (out.wrong > 0) throw skel::error(fmt::format("{} wrong results", out.wrong));
  if (out.afterwards) out.afterwards();
  if (o.skeleton != "calibrate") leave_report(o, platform, out);
  report_what_never_came(o, failures, out.run.run, end.seconds);
  return 0;
}

// Several simulations by one program. SimGrid allows one per process, and loading its libraries takes longer
// than a small simulation, so each runs in a fork.

// Waits for any child. Returns its exit code, 1 for one that a signal has ended.
int wait_for_one() {
  int status = 0;
  while (::waitpid(-1, &status, 0) < 0)
    if (errno != EINTR) throw skel::error("waitpid failed");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

// Reads the runs of a file: one word of the command line per line, and an empty line after each run.
std::vector<std::vector<std::string>> read_batch(std::string const& path) {
  std::ifstream file(path);
  if (!file) throw skel::usage_error(skel::detail::one_line(path + ": cannot be read"));
  std::vector<std::vector<std::string>> runs;
  bool begins = true;
  for (std::string line; skel::detail::read_line(file, line);) {
    if (!line.empty() && begins) runs.emplace_back();
    if (!line.empty()) runs.back().push_back(line);
    begins = line.empty();
  }
  if (runs.empty())
    throw skel::usage_error(
        skel::detail::one_line(path + ": contains no run, expected options line by line"));
  return runs;
}

// Calls `simulate` with the words of each run, one run per core at a time, each in a process of its own.
// Stops after the first failure. Returns its exit code, or 0.
int run_batch(std::vector<std::vector<std::string>> const& runs,
              std::function<int(std::vector<std::string>)> const& simulate) {
  auto const most = std::max(1U, std::thread::hardware_concurrency());
  unsigned running = 0;
  int failed = 0;
  auto const wait = [&] {
    int const code = wait_for_one();
    --running;
    if (failed == 0) failed = code;
  };
  for (auto const& words : runs) {
    if (running == most) wait();
    if (failed != 0) break;
    std::fflush(nullptr);  // or the child would write it again
    pid_t const child = ::fork();
    if (child < 0) throw skel::error("cannot start a process for a simulation");
    if (child == 0) {
      int const code = simulate(words);
      std::fflush(nullptr);
      ::_exit(code);
    }
    ++running;
  }
  while (running > 0) wait();
  return failed;
}

// Also runs the simulations of a batch.
int run_program(std::vector<std::string> words);

int run_program(int argc, char** argv) {
  options o;
  for (auto const make : skel::program::simulated_jobs()) o.jobs.push_back(make());
  std::ranges::sort(o.jobs, std::ranges::greater{}, &skel::program::simulated_job::skeleton);
  CLI::App const* line = nullptr;
  return skel::program::run_tool(
      argc, argv, {simulator_name, "Runs a skeleton on a simulated cluster."},
      [&](CLI::App& app) {
        line = &app;
        add_options(app, o);
        add_schedule_options(app, o.common);
        add_report_options(app, o.common);
      },
      [&] {
        if (o.list) {
          list_platforms();
          return 0;
        }
        if (!o.batch.empty())
          return run_batch(read_batch(o.batch), [](auto words) { return run_program(std::move(words)); });
        check_skeleton_options(*line, o);
        return simulate(o);
      });
}

int run_program(std::vector<std::string> words) {
  words.insert(words.begin(), simulator_name);
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (auto& w : words) pointers.push_back(w.data());
  pointers.push_back(nullptr);
  return run_program(static_cast<int>(words.size()), pointers.data());
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv); }
