// What a farm is made of: the choices checked, and the roles' configurations.
#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "call/power_probe.hpp"
#include "engine/context_access.hpp"
#include "role/deal.hpp"
#include "run.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"

namespace skel::detail {

namespace {
constexpr std::uint64_t default_window = 65536;
constexpr std::uint64_t least_first_grant = 64;
constexpr std::size_t first_grant_bytes = std::size_t{256} * 1024;
}  // namespace

farm_run::farm_run(context& ctx, farm_work& work, farm_policy policy, farm_options const& options)
    : collective_run(ctx, call_options_of(options, "farm"), "farm"),
      work_(work),
      policy_(std::move(policy)),
      options_(options),
      traits_(work.traits()),
      keeps_local_(ctx.is_root() || traits_.merged),
      sink_(work, traits_.ordered, traits_.merged),
      state_(threads_),
      heard_(static_cast<std::size_t>(ctx.size())),
      finished_(static_cast<std::size_t>(ctx.size())) {
  if (traits_.payload) policy_ = for_stream(std::move(policy_));
  check_choices();
  describe_call();
  if (options_.results.window == 0) options_.results.window = traits_.window;
  bool const bounded =
      asks_root(policy_) && policy_.start == start_with::nothing && !options_.results.concentrated;
  if (options_.results.window == 0 && bounded) options_.results.window = default_window;

  std::vector<int> workers = context_access::team(ctx);
  bool const serves = options_.root == root_role::serves && ctx.size() > 1;
  if (serves) std::erase(workers, root_);
  computes_ = std::find(workers.begin(), workers.end(), rank_) != workers.end();
  if (!computes_) threads_ = 1;

  if (options_.checkpoint && is_root()) open_store();
  worker_ = role::farm_worker(worker_setup(workers));
  if (is_root()) ledger_.emplace(ledger_setup(std::move(workers)));
}

farm_run::~farm_run() = default;

// Promises that exclude each other; every rank finds the same, before anything is sent.
void farm_run::check_choices() const {
  policy_.check();
  require_count("farm", "window", options_.results.window);
  require_count("farm", "the batch of streamed results", options_.results.batch);
  bool const dealt = policy_.start != start_with::nothing;
  bool const window = options_.results.window > 0 || traits_.window > 0;
  if (traits_.payload && dealt)
    throw usage_error("schedule " + policy_.name +
                      " deals tasks beforehand, but an on_root source is a stream whose end "
                      "nobody knows: use first-come or guided, or a replicated list");
  if (traits_.payload && options_.results.concentrated)
    throw usage_error(
        "concentrated results keep everything until the end, but an on_root source promises bounded memory: "
        "use streamed results, or a replicated list");
  if (options_.results.concentrated && window)
    throw usage_error(
        "concentrated results arrive at the end, but a window of open tasks needs them as they come: use "
        "streamed results, or no window");
  if (window && dealt)
    throw usage_error("schedule " + policy_.name +
                      " deals tasks beforehand, so no window can bound them: use first-come "
                      "or guided, or no window");
  if (policy_.copies && traits_.payload)
    throw usage_error(
        "schedule " + policy_.name +
        " with copies needs tasks that every rank knows, but those of an on_root source travel: use a "
        "replicated list, or no copies");
  if (policy_.copies && traits_.merged)
    throw usage_error(
        "schedule " + policy_.name +
        " with copies gives some results twice, and merged results cannot be taken apart: use another "
        "sink, or no copies");
  if (!policy_.power.empty() && policy_.power.size() != static_cast<std::size_t>(ctx_.size()))
    throw usage_error(detail::format("schedule {}: {} relative powers were given for {} ranks", policy_.name,
                                     policy_.power.size(), ctx_.size()));
}

// What every rank must have in common for its messages to make sense, and its results.
void farm_run::describe_call() {
  if (traits_.tasks) call_.add("tasks", *traits_.tasks);
  call_.add("source", traits_.payload ? "on_root" : "replicated")
      .add("schedule", to_string(policy_))
      .add("threshold", policy_.threshold ? std::to_string(*policy_.threshold) : "none")
      .add("results", to_string(options_.results))
      .add("root", options_.root == root_role::works ? "works" : "serves")
      .add("sink", traits_.merged    ? "reduced"
                   : traits_.ordered ? "ordered"
                                     : "unordered")
      .add_types("types", traits_.types)
      .add("bytes of a task", traits_.task_bytes)
      .add_types("task function", traits_.function)
      .add("resume", resumes());
  if (auto const contents = ctx_.size() > 1 ? work_.contents(options_.check_tasks) : std::nullopt)
    call_.add_hidden("contents of the task list", *contents);
}

role::farm_worker_config farm_run::worker_setup(std::vector<int> const& workers) {
  role::farm_worker_config w;
  w.self = rank_;
  w.root = root_;
  w.call_hash = call_.hash();
  w.threads = static_cast<int>(threads_);
  w.asks = asks_root(policy_);
  w.computes = computes_;
  w.results = options_.results;
  w.threshold = policy_.threshold;
  w.early = policy_.early;
  if (policy_.more == more_from::ring && workers.size() > 1)
    w.ring.ranks = std::make_shared<std::vector<int> const>(workers);
  w.ring.take = policy_.take;
  w.ring.give = policy_.give;
  w.ring.order = policy_.order;
  w.ring.copies = policy_.copies;
  if (options_.checkpoint && options_.results.concentrated)
    w.send_after_ticks = static_cast<unsigned>(std::clamp(options_.checkpoint->every_seconds * 4, 1.0, 1e6));
  if (computes_ && traits_.tasks) {
    auto const index = static_cast<int>(std::find(workers.begin(), workers.end(), rank_) - workers.begin());
    auto const count = static_cast<int>(workers.size());
    if (!resumes()) w.share = known_share(policy_, *traits_.tasks, count, index);
    bool const deals_by_power = policy_.start == start_with::weighted && policy_.power.empty();
    if ((deals_by_power || policy_.copies) && count > 1) {
      auto const known = engine_.wires().power();
      w.power = known ? *known : measured_power();
    }
  }
  return w;
}

role::farm_ledger_config farm_run::ledger_setup(std::vector<int> workers) const {
  role::farm_ledger_config l;
  l.root = root_;
  l.ranks = context_access::team(ctx_);
  l.workers = std::move(workers);
  l.tasks = traits_.tasks;
  l.policy = policy_;
  l.ordered = traits_.ordered;
  l.merged = traits_.merged;
  l.window = options_.results.window;
  l.first_grant = std::max<std::uint64_t>(least_first_grant,
                                          first_grant_bytes / std::max<std::size_t>(1, traits_.result_bytes));
  l.call_hash = call_.hash();
  l.most_losses = options_.max_losses_per_task;
  l.resumed = resumes();
  if (recorder_) l.restored = recorder_->restored_tasks();
  return l;
}

}  // namespace skel::detail
