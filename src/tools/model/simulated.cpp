#include "tools/model/simulated.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <tuple>

#include "base/text.hpp"
#include "model/statistics.hpp"
#include "model/text.hpp"
#include "program/sister.hpp"
#include "skel/error.hpp"

namespace skel::model {

namespace {

void run_simulator(std::vector<std::string> words) {
  auto const simulator = program::find_sister("skel-simulate");
  if (!simulator)
    throw error(
        "skel-simulate not found (it is built if SimGrid is installed): the prediction needs a simulation");
  if (auto const failure = program::run_sister(*simulator, std::move(words))) throw usage_error(*failure);
}

std::string platform_of(machine const* where, int ranks, std::string const& kind) {
  if (where == nullptr) throw usage_error("--simulate: expected --machine FILE.json or --platform");
  std::string ignored;
  auto const m = where->for_ranks(ranks, kind, ignored);
  nlohmann::ordered_json p;
  p["name"] = "calibrated";
  p["hosts"] = {{{"name", "node"}, {"count", ranks}}};
  p["network"] = {{"kind", "switch"}, {"latency_seconds", m.latency_seconds}};
  constexpr double least_gap = 1e-15;  // seconds per byte; calibrate may have found none
  p["network"]["bandwidth_bytes_per_second"] = 1 / std::max(m.gap_seconds_per_byte, least_gap);
  return p.dump();
}

// The reports of runs of skel-simulate. One process starts them all, since loading its libraries takes
// longer than a small simulation.
std::vector<nlohmann::json> reports_of(std::vector<std::vector<std::string>> const& runs,
                                       program::temporary_folder const& folder) {
  auto const batch = folder.file("batch");
  auto const report = [&](std::size_t i) { return folder.file("report-" + std::to_string(i)); };
  std::ofstream file(batch);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (auto const& word : runs[i]) file << word << '\n';
    file << "--quiet\n--report\n" << report(i) << "\n\n";
  }
  file.close();
  run_simulator({"--batch", batch});
  std::vector<nlohmann::json> reports;
  for (std::size_t i = 0; i < runs.size(); ++i)
    reports.push_back(nlohmann::json::parse(read_text(report(i))));
  return reports;
}

std::string number(double x) { return fmt::format("{:.0f}", x); }
// A duration as skel-simulate reads it, without an exponent.
std::string duration(double seconds) { return fmt::format("{:.15f}", std::max(seconds, 1e-12)); }

// The relative error of what the curve says of a run, as a standard deviation: of the coefficients,
// of one run around the curve, and outside of the samples the error on held-out ones.
double relative_error(term const& t, point const& at, bool scatter = true) {
  double const value = t.curve(at);
  if (!(value > 0)) return 0;
  double error =
      std::hypot(std::sqrt(t.curve.variance(t.curve.functions(at))), scatter ? t.curve.scatter(value) : 0) /
      value;
  for (auto const& [name, range] : t.curve.range)
    if (auto const v = at.find(name);
        v != at.end() && t.error && (v->second < range.first || v->second > range.second)) {
      error = std::hypot(error, t.error->median);
      break;
    }
  return error < 1e-9 ? 0 : error;
}

// The factor by which the seed's run costs more than the curve says: Student's distribution, with the
// same quantile for all candidates of a skeleton.
double factor_of(skeleton_model const& m, term const& t, point const& at, std::uint64_t seed, bool scatter) {
  std::vector<std::uint32_t> words(m.skeleton.begin(), m.skeleton.end());
  words.push_back(static_cast<std::uint32_t>(seed));
  std::seed_seq mixed(words.begin(), words.end());
  std::mt19937_64 dice(mixed);
  double const u = std::clamp(uniform(dice), 1e-6, 1 - 1e-6);
  constexpr double least = 0.1, most = 10;
  return std::clamp(
      1 + student_quantile(u, std::max(1, t.curve.degrees_of_freedom())) * relative_error(t, at, scatter),
      least, most);
}

bool simulated(std::string const& skeleton) {
  return skeleton == "farm" || skeleton == "ring_steal" || skeleton == "divide_and_conquer" ||
         skeleton == "multi_host" || skeleton == "bsp";
}

// Reports a size that the model needs before it is missed as a variable.
void require_sizes(skeleton_model const& m, term const& t, point const& at) {
  for (auto const& function : t.curve.basis)
    for (auto const& f : function.factors)
      if (!at.contains(f.variable))
        throw usage_error(fmt::format("--simulate of {}: the model depends on {}, set {} as well: --set {}=…",
                                      m.skeleton, f.variable, f.variable, f.variable));
}

term const* work_of(skeleton_model const& m) {
  return m.skeleton == "divide_and_conquer" ? m.find("sequential") : m.find("run", "busy_seconds");
}

}  // namespace

void simulation_options::add_options(CLI::App& app, CLI::Option* simulate) {
  auto const add = [&](char const* name, auto& value, char const* skeleton, char const* text) {
    return app.add_option(name, value, fmt::format("with --simulate{}: {}", skeleton, text))->needs(simulate);
  };
  add("--costs", costs, "",
      "costs of the tasks: TRACE.json of a smaller run, whose tasks are drawn from, or as in skel-simulate "
      "[each the mean of the model]")
      ->type_name("TRACE.json|FILE.csv|DISTRIBUTION");
  add("--platform", platform, "", "platform [equal machines, l and g of --machine]")
      ->type_name("FILE.json|NAME");
  add("--tree", tree, " of ring_steal", "tree to search, as in skel-search [a list of tasks]")
      ->type_name("TREE");
  add("--rows", rows, " of multi_host", "rows per unit")->type_name("N")->check(CLI::Range(1, 1'000'000));
  add("--read-seconds", read_seconds, " of multi_host", "seconds to read a unit")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 1e6));
  add("--row-bytes", row_bytes, " of multi_host", "bytes per row of a packet")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 24));
  add("--message-bytes", message_bytes, " of bsp", "bytes per message [message_bytes of the samples]")
      ->type_name("N")
      ->check(CLI::Range(0.0, 1e9));
  add("--pattern", pattern, " of bsp", "ranks that receive a rank's messages")
      ->capture_default_str()
      ->check(CLI::IsMember({"ring", "all"}));
  add("--local", local, " of divide_and_conquer", "algorithm of a single rank")
      ->capture_default_str()
      ->check(CLI::IsMember({"union-find", "dfs"}));
}

unsigned group_size_of(std::string const& schedule) {
  constexpr std::string_view key = "size=";
  auto const at = schedule.find(key);
  if (at == std::string::npos) return 0;
  auto rest = std::string_view(schedule).substr(at + key.size());
  return detail::take_number<unsigned>(rest).value_or(0);
}

simulator::simulator(simulation_options const& options, machine const* where, point sizes, std::string kind)
    : options_(options), where_(where), sizes_(std::move(sizes)), kind_(std::move(kind)) {
  if (options.costs.ends_with(".json")) observed_ = observed_costs::read_trace(options.costs);
}

// The sizes of the problem: those given, and those that are the same in all samples.
point simulator::sizes_of(simulated_run const& run) const {
  point at = sizes_;
  at["P"] = run.ranks;
  for (auto const& t : run.model->terms)
    for (auto const& [name, range] : t.curve.range)
      if (range.first == range.second) at.emplace(name, range.first);
  return at;
}

double simulator::size(simulated_run const& run, char const* name, char const* what) const {
  auto const at = sizes_of(run);
  auto const found = at.find(name);
  if (found == at.end())
    throw usage_error(fmt::format("--simulate of {}: missing {}, expected for example --set {}=1000",
                                  run.model->skeleton, what, name));
  if (!(found->second >= 1 && found->second <= 1e9))
    throw usage_error(fmt::format("--simulate: {} is {}, expected 1 to 1e9", name, found->second));
  return found->second;
}

// Reports a missing size before the model misses it as a variable.
void simulator::check_sizes(simulated_run const& run) const {
  if (!simulated(run.model->skeleton))
    throw usage_error(fmt::format(
        "--simulate: expected farm, ring_steal, divide_and_conquer, multi_host or bsp, found \"{}\"",
        run.model->skeleton));
  if (run.model->skeleton == "divide_and_conquer") {
    (void)size(run, "N", "number of nodes");
    (void)size(run, "M", "number of edges");
  } else if (run.model->skeleton != "ring_steal" || options_.tree.empty()) {
    (void)size(run, "tasks", "number of tasks");
  }
}

// Busy seconds of all ranks.
double simulator::mean_work(simulated_run const& run, std::optional<std::uint64_t> seed) const {
  auto const* const work = work_of(*run.model);
  if (work == nullptr)
    throw usage_error(run.model->name() +
                      ": the model has no cost per task (no busy seconds in the samples), expected --costs");
  auto const at = sizes_of(run);
  require_sizes(*run.model, *work, at);
  double const mean = work->curve(at);
  // The draws of tasks scatter by themselves.
  bool const drawn = observed_ && (run.model->skeleton == "bsp" || run.model->skeleton == "multi_host");
  return seed ? mean * factor_of(*run.model, *work, at, *seed, !drawn) : mean;
}

bool simulator::varies(simulated_run const& run) const {
  check_sizes(run);
  bool const of_tasks = run.model->skeleton == "farm" || run.model->skeleton == "bsp" ||
                        (run.model->skeleton == "multi_host" && observed_) ||
                        (run.model->skeleton == "ring_steal" && options_.tree.empty());
  if (of_tasks && (observed_ || distribution())) return true;
  if (of_tasks && !options_.costs.empty()) return false;
  auto const* const work = work_of(*run.model);
  if (work == nullptr) return false;
  auto const at = sizes_of(run);
  require_sizes(*run.model, *work, at);
  return relative_error(*work, at) > 0;
}

// The value of skel-simulate's --costs: a file of `tasks` costs, or of shares of supersteps.
std::string simulator::task_costs(request const& r, double tasks) const {
  auto const& [run, seed, folder] = r;
  if (!options_.costs.empty() && !observed_) return options_.costs;
  bool const supersteps = run.model->skeleton == "bsp";
  double const mean = observed_ && !supersteps ? observed_->mean() : mean_work(run, seed) / tasks;
  if (!observed_ || !seed) return "constant:" + duration(mean);
  auto path = folder.file("costs.csv");
  std::ofstream file(path);
  // A rank's share of a superstep depends on the number of ranks, so the trace gives the form only.
  for (double const c : observed_->draw(static_cast<std::size_t>(tasks), *seed,
                                        supersteps ? std::optional(mean) : std::nullopt))
    file << fmt::format("{:.12f}\n", c);
  return path;
}

// What the units of multi_host cost: the same, or as the tasks of the trace vary.
simulator::arguments simulator::layer_costs(request const& r, double units, double mean) const {
  auto const rows = *options_.rows;
  if (!observed_ || !r.seed)
    return {"--rows", std::to_string(rows), "--unit-seconds", fmt::format("{:.12f}", mean)};
  auto const costs = observed_->draw(static_cast<std::size_t>(units), *r.seed, mean);
  auto const path = r.folder.file("layers.csv");
  std::ofstream file(path);
  file << "what,layer,row,seconds,bytes\n";
  double sum = 0;
  for (std::size_t k = 0; k <= costs.size(); ++k)
    file << fmt::format("slice,{},,{:.12f},\n", k, *options_.read_seconds);
  for (std::size_t k = 0; k < costs.size(); ++k) {
    sum += costs[k];
    for (std::uint64_t row = 0; row < rows; ++row)
      file << fmt::format("row,{},{},{:.12f},8\n", k, row, costs[k] / static_cast<double>(rows));
  }
  return {"--layer-costs", path, "--unit-seconds", fmt::format("{:.12f}", sum / units)};
}

// Graphs of N nodes and M edges. Blocks of skel-simulate cost what they take on this machine; the
// factor turns that into what the model says of one rank.
simulator::arguments simulator::division_words(request const& r) const {
  auto const& [run, seed, folder] = r;
  double const nodes = size(run, "N", "number of nodes"), edges = size(run, "M", "number of edges");
  auto const* const work = work_of(*run.model);
  if (work == nullptr)
    throw usage_error(run.model->name() +
                      ": the model has no phase sequential, expected samples of one rank");
  std::vector<std::string> words{
      "--generate", fmt::format("uniform:n={:.0f},m={:.0f},seed={}", nodes, edges, seed.value_or(1)),
      "--kind",     run.model->schedule.substr(0, run.model->schedule.find(':')),
      "--local",    options_.local};
  auto alone = words;
  alone.insert(alone.end(), {"--skeleton", "divide_and_conquer", "--platform", "cluster:ranks=1"});
  double const measured = reports_of({alone}, folder).front().at("cost_seconds_at_power_1").get<double>();
  constexpr double most = 1e6;
  double const scale = std::clamp(mean_work(run, seed) / std::max(measured, 1e-9), 1 / most, most);
  words.insert(words.end(), {"--cost-scale", fmt::format("{:.9f}", scale)});
  return words;
}

std::vector<std::string> simulator::warnings(simulated_run const& run) const {
  std::vector<std::string> all;
  if (options_.platform.empty() && where_ != nullptr) {
    std::string text;
    std::ignore = where_->for_ranks(run.ranks, kind_, text);
    if (!text.empty()) all.push_back(text);
  }
  if (auto const* const work = work_of(*run.model); work != nullptr && options_.costs.empty())
    for (auto const& text : extrapolations(work->curve, run.model->name(), sizes_of(run)))
      all.push_back(text);
  if (run.model->skeleton == "farm" && run.model->find("run", "bytes") == nullptr)
    all.push_back(run.model->name() + ": the samples do not say how large results are: 8 bytes each");
  return all;
}

simulator::arguments simulator::words_of(request const& r) const {
  auto const& [run, seed, folder] = r;
  auto const& m = *run.model;
  check_sizes(run);
  if (m.skeleton == "divide_and_conquer") return division_words(r);
  if (m.skeleton == "ring_steal" && !options_.tree.empty()) {
    // The cost of a node is that of the largest sample; the tree determines the number of nodes.
    auto sampled = sizes_;
    if (auto const* const work = work_of(m); work != nullptr && !sampled.contains("tasks"))
      if (auto const seen = work->curve.range.find("tasks"); seen != work->curve.range.end())
        sampled["tasks"] = seen->second.second;
    simulator of_nodes(*this);
    of_nodes.sizes_ = sampled;
    double const nodes = of_nodes.size(run, "tasks", "number of tasks");
    auto const costs = options_.costs.empty() ? "constant:" + duration(of_nodes.mean_work(run, seed) / nodes)
                       : observed_            ? "constant:" + duration(observed_->mean())
                                              : options_.costs;
    return {"--tree", options_.tree, "--costs", costs};
  }
  double const tasks = size(run, "tasks", "number of tasks");
  if (m.skeleton == "farm") {
    double result_bytes = 8;
    if (auto const* const bytes = m.find("run", "bytes"); bytes != nullptr) {
      require_sizes(m, *bytes, sizes_of(run));
      result_bytes = std::clamp(bytes->curve(sizes_of(run)) / tasks, 0.0, 1e9);
    }
    std::vector<std::string> words{"--schedule",     run.schedule,         "--tasks", number(tasks),
                                   "--result-bytes", number(result_bytes), "--costs", task_costs(r, tasks)};
    if (!m.results.empty()) words.insert(words.end(), {"--results", m.results});
    return words;
  }
  if (m.skeleton == "ring_steal") return {"--tasks", number(tasks), "--costs", task_costs(r, tasks)};
  if (m.skeleton == "bsp") {
    auto const sampled = sizes_of(run);
    if (!options_.message_bytes && !sampled.contains("message_bytes"))
      throw usage_error("--simulate of bsp: missing --message-bytes N, which the samples do not contain");
    double const bytes = options_.message_bytes ? *options_.message_bytes : sampled.at("message_bytes");
    return {"--supersteps",    number(tasks), "--pattern", options_.pattern,
            "--message-bytes", number(bytes), "--costs",   task_costs(r, tasks * run.ranks)};
  }
  return group_words(r, tasks);
}

simulator::arguments simulator::group_words(request const& r, double units) const {
  auto const& run = r.run;
  if (!options_.rows) throw usage_error("--simulate of multi_host: missing --rows N");
  if (!options_.read_seconds) throw usage_error("--simulate of multi_host: missing --read-seconds SECONDS");
  // A host reads one slice more than it has units. The groups are those of the samples.
  double const groups = std::max(1.0, run.ranks / std::max(1.0, 1.0 * group_size_of(run.model->schedule)));
  double const busy = mean_work(run, r.seed) / units;
  double const unit = busy - *options_.read_seconds * (1 + groups / units);
  if (!(unit > 0))
    throw usage_error(
        fmt::format("--read-seconds: expected less than the busy seconds per unit ({:.6g}), found {}", busy,
                    *options_.read_seconds));
  std::vector<std::string> words{
      "--units",        number(units),
      "--read-seconds", fmt::format("{:.12f}", *options_.read_seconds),
      "--row-bytes",    std::to_string(options_.row_bytes),
      "--group-size",   std::to_string(run.group_size),
      "--sink",         run.model->results.starts_with("on_hosts") ? "hosts" : "root"};
  auto const unit_seconds = layer_costs(r, units, unit);
  words.insert(words.end(), unit_seconds.begin(), unit_seconds.end());
  return words;
}

std::vector<double> simulator::seconds(std::vector<seeded_run> const& runs) const {
  program::temporary_folder const folder;
  std::vector<std::unique_ptr<program::temporary_folder>> inputs;
  std::vector<std::vector<std::string>> all;
  for (auto const& [what, seed] : runs) {
    inputs.push_back(std::make_unique<program::temporary_folder>());
    auto words = words_of({what, seed, *inputs.back()});
    auto platform = options_.platform;
    if (platform.empty()) {
      platform = inputs.back()->file("platform.json");
      std::ofstream(platform) << platform_of(where_, what.ranks, kind_);
    }
    words.insert(words.end(), {"--skeleton", what.model->skeleton, "--platform", platform, "--ranks",
                               std::to_string(what.ranks), "--seed", std::to_string(seed.value_or(1))});
    all.push_back(std::move(words));
  }
  std::vector<double> seconds;
  for (auto const& report : reports_of(all, folder)) seconds.push_back(report.at("seconds").get<double>());
  return seconds;
}

}  // namespace skel::model
