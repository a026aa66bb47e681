#include "setup.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "base/memory.hpp"
#include "call/power_probe.hpp"
#include "call/quantum.hpp"
#include "checkpoint/interval.hpp"
#include "engine/context_access.hpp"
#include "engine/engine.hpp"
#include "protocol/deal.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"

namespace skel::detail {

namespace {

constexpr std::uint64_t least_window = 65536;
constexpr std::uint64_t window_per_rank = 32;  // or grants are small, so the root sends many
constexpr std::uint64_t memory_share = 4;      // a quarter of it
constexpr std::uint64_t least_first_grant = 64;
constexpr std::size_t first_grant_bytes = std::size_t{256} * 1024;
// A task is costly if it costs more than a thread's share of all costs over this.
constexpr double parts_of_share = 16;

// The cost of each of `tasks` tasks, in units of the average one. Throws usage_error for a cost that is
// negative or not finite, or if the sum is not finite, and what `cost` throws.
std::vector<double> costs_of(std::function<double(task_id)> const& cost, std::uint64_t tasks) {
  std::vector<double> all;
  all.reserve(tasks);
  double sum = 0;
  for (task_id id = 0; id < tasks; ++id) {
    double const c = cost(id);
    if (!(c >= 0 && std::isfinite(c)))
      throw usage_error(
          detail::format("farm: task {} has the cost {}, expected a finite number of at least 0", id, c));
    sum += c;
    all.push_back(c);
  }
  if (!std::isfinite(sum))
    throw usage_error("farm: the sum of all costs is too large, expected a finite number");
  for (auto& c : all) c = sum > 0 ? c / sum * static_cast<double>(tasks) : 1;
  return all;
}

// The tasks, the most costly one first; those of equal cost in the order of their numbers.
std::vector<task_id> by_cost(std::vector<double> const& costs) {
  std::vector<task_id> order(costs.size());
  std::iota(order.begin(), order.end(), task_id{0});
  std::stable_sort(order.begin(), order.end(), [&](task_id a, task_id b) { return costs[a] > costs[b]; });
  return order;
}

}  // namespace

bool forms_teams(farm_traits const& traits, farm_options const& options, int ranks) {
  return traits.takes_team && ranks > 1 && !options.task.team_size.is_one();
}

farm_setup::farm_setup(context const& ctx, farm_work& work, farm_policy how, farm_options const& with,
                       int root_rank)
    : policy(std::move(how)),
      options(with),
      traits(work.traits()),
      size(ctx.size()),
      rank(ctx.rank()),
      root(root_rank) {
  if (traits.payload()) policy = for_stream(std::move(policy));
  if (policy.more == schedule::more_from::root_then_ranks &&
      (options.task.run_once || options.task.needs || traits.merged))
    policy.copies = false;
  if (options.audit == 0 && context_access::engine_of(ctx).options().check.tasks.value_or(false) &&
      may_audit() && traits.comparable)
    options.audit = 1;
  check_choices();
  again = context_access::engine_of(ctx).job.attempt > 1;
  // A team may be given other work in another attempt, when it has other processes, too.
  remembers = context_access::is_observed(ctx) && traits.tasks && options.audit == 0 &&
              !forms_teams(traits, options, size);
  recalls = again && remembers;
  if (options.task.cost) {
    costs = costs_of(options.task.cost, *traits.tasks);
    costly = count_costly(ctx.threads());
    if (!forms_teams(traits, options, size)) work.begin_in(by_cost(costs));
  }
  auto& window = options.results.window;
  if (window == 0) window = traits.window;
  bool const bounded =
      asks_root(policy) && policy.start == schedule::start_with::nothing && !options.results.concentrated;
  bool const reorders = options.task.cost || options.task.team_size.is_chosen();
  window_bytes = options.results.window_bytes;
  if (window > 0 || !bounded || (traits.ordered && reorders) || audit_holds()) return;
  window = std::max(least_window, window_per_rank * static_cast<std::uint64_t>(size));
  if (window_bytes == 0 && rank == root) window_bytes = available_memory() / memory_share;
}

// Merged results are few, and those with a place of their own are kept anyway. On one rank, results go to the
// sink as they are computed.
window_size farm_setup::bytes_of_window() const {
  if (traits.merged || traits.in_place || size == 1) return {};
  return {window_bytes, traits.result_is_raw ? traits.result_bytes : 0, traits.ordered};
}

// In the order in which the tasks begin.
task_costs farm_setup::costs_in_order() const {
  auto all = costs;
  std::sort(all.begin(), all.end(), std::greater<>());
  return all.empty() ? task_costs() : task_costs(all);
}

double farm_setup::cost_of(task_range const& tasks, farm_work const& work) const {
  if (costs.empty()) return static_cast<double>(tasks.count);
  double sum = 0;
  for (std::uint64_t i = 0; i < tasks.count; ++i) sum += costs[work.task_at(tasks[i])];
  return sum;
}

std::uint64_t farm_setup::count_costly(int threads) const {
  auto const all_threads = static_cast<double>(computing()) * threads;
  double const part = static_cast<double>(costs.size()) / all_threads / parts_of_share;
  return static_cast<std::uint64_t>(
      std::count_if(costs.begin(), costs.end(), [&](double c) { return c > part; }));
}

void farm_setup::check_choices() const {
  policy.check();
  require_count("farm", "window", options.results.window);
  require_count("farm", "window_bytes", options.results.window_bytes);
  require_count("farm", "the batch of streamed results", options.results.batch);
  require_count("farm", "the times of on_error", options.on_error.times);
  if (options.task.time_limit_seconds)
    require_seconds("farm", "task.time_limit_seconds", *options.task.time_limit_seconds);
  if (options.task.time_limit_seconds == 0)
    throw usage_error("farm: task.time_limit_seconds is 0, in which no task can run");
  if (options.on_error.times == 0)
    throw usage_error("farm: the times of on_error are 0, but a task must fail at least once");
  if (!traits.takes_team && !options.task.team_size.is_one())
    throw usage_error(
        "farm: team_size was set, but the task function takes no team: its first parameter must be a "
        "skel::context&");
  if (auto const n = options.task.team_size.fixed(); n && *n < 1)
    throw usage_error(detail::format("farm: team_size must be at least 1, found {}", *n));
  check_source();
  check_schedule();
}

void farm_setup::check_source() const {
  if (options.task.team_size.is_chosen() && traits.payload())
    throw usage_error("farm: team_size::chosen needs tasks that are known beforehand, but those of " +
                      source() + " are not: use a replicated list, or a function of the task");
  if (options.task.cost && traits.payload())
    throw usage_error("farm: cost needs tasks that are known beforehand, but those of " + source() +
                      " are not: use a replicated list, or let the source give the most costly tasks first");
  if (options.task.cost && traits.ordered && wants_window())
    throw usage_error(
        "farm: a window of an ordered sink counts from the first missing task, but with cost that may be the "
        "last one to begin: use no window, or another sink");
  if (options.audit != 0) check_audit();
  if (traits.steered && options.checkpoint && options.on_error.collects)
    throw usage_error(
        "farm: a checkpoint holds results, but what a steered source asks for also depends on the tasks that "
        "collect leaves out: use retry, or no checkpoint");
  if (traits.steered && options.checkpoint && options.task.needs)
    throw usage_error(
        "farm: a checkpoint holds results, but what a steered source asks for also depends on the tasks that "
        "cannot end before the time limit: use no needs, or no checkpoint");
}

void farm_setup::check_schedule() const {
  bool const window = wants_window();
  bool const dealt = policy.start != schedule::start_with::nothing;
  if (traits.payload() && dealt)
    throw usage_error("schedule " + policy.name + " deals tasks beforehand, but " + source() +
                      " is a stream whose end is unknown: use first-come or guided, or a replicated list");
  if (traits.payload() && options.results.concentrated)
    throw usage_error(
        traits.steered
            ? "concentrated results come at the end, but a steered source needs them as they come: "
              "use streamed results"
            : "concentrated results keep everything until the end, but an on_root source promises "
              "bounded memory: use streamed results, or a replicated list");
  if (options.results.concentrated && window)
    throw usage_error(
        "concentrated results arrive at the end, but a window of open tasks needs them as they come: use "
        "streamed results, or no window");
  if (window && dealt)
    throw usage_error("schedule " + policy.name +
                      " deals tasks beforehand, so no window can bound them: use first-come "
                      "or guided, or no window");
  if (options.task.needs && forms_teams(traits, options, size))
    throw usage_error(
        "farm: task.needs say which tasks a rank runs together, but on teams of several ranks each runs "
        "alone: use teams of one rank, or no needs");
  if (options.task.needs && policy.copies)
    throw usage_error(
        "schedule " + policy.name +
        " with copies runs some tasks twice, for which task.needs leave no room: use no copies");
  if (options.task.run_once && policy.copies)
    throw usage_error("schedule " + policy.name +
                      " with copies runs some tasks twice, but run_once forbids that: use no copies");
  if (policy.copies && traits.payload() && policy.more == schedule::more_from::ring)
    throw usage_error("schedule " + policy.name +
                      " with copies needs tasks that every rank knows, but those of " + source() +
                      " travel: use a replicated list, or no copies");
  if (policy.copies && traits.merged)
    throw usage_error(
        "schedule " + policy.name +
        " with copies gives some results twice, and merged results cannot be taken apart: use another "
        "sink, or no copies");
  if (!policy.power.empty() && policy.power.size() != static_cast<std::size_t>(size))
    throw usage_error(detail::format("schedule {}: {} relative powers were given for {} ranks", policy.name,
                                     policy.power.size(), size));
}

std::string farm_setup::source() const { return traits.steered ? "a steered source" : "an on_root source"; }

bool farm_setup::may_audit() const {
  return !traits.merged && !traits.steered && !forms_teams(traits, options, size) && !options.task.run_once &&
         computing() > 1;
}

bool farm_setup::checks_ranks(std::optional<bool> check_tasks) const {
  return traits.checked && !check_tasks && !traits.payload() && !traits.takes_team && traits.comparable &&
         may_audit();
}

void farm_setup::check_audit() const {
  if (!(options.audit > 0 && options.audit <= 1))
    throw usage_error(
        detail::format("farm: audit is a share of the tasks, expected 0 to 1, found {}", options.audit));
  if (traits.merged)
    throw usage_error(
        "farm: audit compares results one by one, but a reduced sink merges them on each rank: use another "
        "sink, or no audit");
  if (traits.steered)
    throw usage_error(
        "farm: audit waits for a second result, but a steered source needs each as it comes: use no audit");
  if (forms_teams(traits, options, size))
    throw usage_error("farm: audit repeats tasks on another rank, but these run on teams: use no audit");
  if (options.task.run_once)
    throw usage_error("farm: audit runs some tasks twice, but run_once forbids that");
  if (computing() < 2)
    throw usage_error(
        detail::format("farm: audit repeats tasks on another rank: expected at least 2 ranks that compute, "
                       "found {}",
                       computing()));
}

// Whether results of a rank that is found at fault must not have reached the sink. A window, and a
// checkpoint, need results in the sink as they come.
bool farm_setup::audit_holds() const {
  return options.audit > 0 && !traits.payload() && !options.checkpoint && !wants_window();
}

void farm_setup::describe(call_description& call, farm_work const& work,
                          std::optional<bool> check_inputs) const {
  if (traits.tasks) call.add("tasks", *traits.tasks);
  call.add("source", traits.steered     ? "steered"
                     : traits.payload() ? "on_root"
                                        : "replicated")
      .add("schedule", to_string(policy))
      .add("threshold", policy.threshold ? std::to_string(*policy.threshold) : "none")
      .add("results", to_string(options.results))
      .add("on_error", to_string(options.on_error))
      .add("audit", detail::format("{}", options.audit))
      .add("copies", policy.copies ? "yes" : "no")
      .add("team size",
           options.task.team_size.fixed() ? std::to_string(*options.task.team_size.fixed()) : "of each task")
      .add("teams", options.task.team_on_one_host ? "on one host" : "on any ranks")
      .add("root", options.root_works ? "works" : "serves")
      .add("sink", traits.merged    ? "reduced"
                   : traits.ordered ? "ordered"
                                    : "unordered")
      .add_types("types", work.types())
      .add("bytes of a task", traits.task_bytes)
      .add_types("task function", work.function())
      .add("resume", may_resume())
      .add("cost", options.task.cost ? "given" : "none");
  if (options.task.needs) call.add("needs", "given");
  if (traits.steered) call.add("window of the source", *traits.steered);
  if (!costs.empty()) {
    xxh3_hasher hash;
    hash.update(std::as_bytes(std::span(costs)));
    call.add_hidden("costs of tasks", hash.value());
  }
  if (auto const contents = size > 1 || again ? work.contents(check_inputs) : std::nullopt)
    call.add_hidden("contents of the task list", *contents);
}

role::farm_member_config farm_setup::member_config(engine& of, std::uint64_t call_hash,
                                                   unsigned threads) const {
  role::farm_member_config w;
  w.self = rank;
  w.root = root;
  w.call_hash = call_hash;
  w.threads = static_cast<int>(threads);
  w.asks = asks_root(policy);
  w.computes = computes();
  w.results = options.results;
  w.threshold = policy.threshold;
  w.early = policy.early;
  w.ring.directed = policy.more == schedule::more_from::root_then_ranks;
  // The root leaves the last tasks to others if it is slow, so it holds none in advance.
  w.fresh = traits.steered.has_value() || (w.ring.directed && rank == root);
  if (w.ring.directed && 3e-6 * size > quantum_seconds)
    w.wait.seconds = 3e-6 * size;  // until the root says: a message costs about a microsecond
  int const count = computing();
  w.ring.first = first_computing();
  if ((policy.more == schedule::more_from::ring || w.ring.directed) && count > 1) w.ring.ranks = size;
  w.ring.take = policy.take;
  w.ring.give = policy.give;
  w.ring.order = policy.order;
  w.ring.copies = policy.copies;
  if (options.checkpoint && options.results.concentrated)
    w.wait.ticks = static_cast<unsigned>(std::clamp(usual_interval(*options.checkpoint) * 4, 1.0, 1e6));
  if (!w.computes || !traits.tasks) return w;
  bool const even = policy.start == schedule::start_with::contiguous;
  w.costly = costly;
  if (!resumes() && !recalls)
    w.share = known_share(policy, *traits.tasks, count, rank - first_computing(),
                          even ? costs_in_order() : task_costs());
  bool const deals_by_power = policy.start == schedule::start_with::weighted && policy.power.empty();
  bool const asks_power = deals_by_power || (policy.copies && policy.more == schedule::more_from::ring);
  if ((asks_power || w.ring.directed) && count > 1) {
    auto const known = of.wires().carrier().power();
    w.power = known ? *known : asks_power ? measured_power() : 0;
  }
  return w;
}

role::farm_root_config farm_setup::root_config(std::uint64_t call_hash, bool root_in_place,
                                               range_list restored) const {
  role::farm_root_config l;
  l.root = root;
  l.ranks = size;
  l.first_computing = first_computing();
  l.list.tasks = traits.tasks;
  l.list.costs = costs_in_order();
  l.list.costly = costly;
  l.policy = policy;
  l.ordered = traits.ordered;
  l.merged = traits.merged;
  l.window = options.results.window;
  l.first_grant = std::max<std::uint64_t>(least_first_grant,
                                          first_grant_bytes / std::max<std::size_t>(1, traits.result_bytes));
  l.root_in_place = root_in_place;
  l.call_hash = call_hash;
  l.losses.most = options.max_losses_per_task;
  l.on_error = options.on_error;
  l.audit = {options.audit, audit_holds()};
  l.rooms = rooms;
  l.list.resumed = resumes() || recalls;
  l.list.recalled = recalls;
  l.list.restored = std::move(restored);
  return l;
}

}  // namespace skel::detail
