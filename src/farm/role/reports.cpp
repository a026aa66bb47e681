#include "farm/role/reports.hpp"

#include <algorithm>

namespace skel::role {

namespace {
// Ticks without an answer after which a message is repeated. The MPI transport loses none; a lossy wire may.
constexpr unsigned member_patience = 8;
// Ticks for which results wait for others at most, while a long task runs: the sink gets some every second.
constexpr unsigned results_wait_ticks = 2;
// The cost of a task is the mean of about this many of the latest tasks.
constexpr double remembered_tasks = 64;

// Number of threads, but for those of queued tasks.
std::uint64_t idle_threads(int threads, held_tasks const& held) {
  auto const busy = held.running().size() + held.queued();
  auto const all = static_cast<std::uint64_t>(threads);
  return all - std::min<std::uint64_t>(all, busy);
}
}  // namespace

farm_reports::farm_reports(farm_member_config config)
    : config_(std::move(config)),
      untold_(config_.self != config_.root || config_.directed()),
      closed_(!config_.asks) {
  config_.share.clear();
}

void farm_reports::hello(farm_actions& out) const {
  out.push_back(tell_root{role::hello{
      config_.call_hash, static_cast<std::uint64_t>(config_.computes ? config_.threads : 0), config_.power}});
}

bool farm_reports::tick(held_tasks& held, farm_actions& out) {
  auto const patience = config_.results.concentrated ? config_.wait.ticks
                        : config_.wait.seconds > 0   ? results_wait_ticks
                                                     : 0;
  if (patience > 0 && held.done() > 0 && ++unsent_ticks_ >= patience) flush(held, out);
  if (++ticks_ < member_patience) return false;
  ticks_ = 0;
  return true;
}

// --- requests

std::uint64_t farm_reports::wanted(held_tasks const& held) const {
  if (config_.fresh) return std::max<std::uint64_t>(1, idle_threads(config_.threads, held));
  // A given threshold is taken literally: one task beyond it. The default covers two round trips.
  if (!config_.early) return static_cast<std::uint64_t>(config_.threads);
  std::uint64_t const window = config_.threshold ? *config_.threshold + 1 : 2 * reach_;
  return window > held.queued() ? window - held.queued() : 1;
}

void farm_reports::retire(bool does) {
  asked_ = false;
  retires_ = does;
}

bool farm_reports::may_ask(held_tasks const& held) const {
  auto const& running = held.running();
  if (retires_) return false;
  if (config_.fresh)
    return !asked_ && !closed_ && config_.computes && idle_threads(config_.threads, held) > 0;
  if (asked_ || closed_ || !config_.computes || held.queued() > config_.threshold.value_or(reach_) ||
      (!config_.early && !(held.queued() == 0 && running.empty())))
    return false;
  // If every thread runs a costly task, a task that came now would wait for long.
  return running.size() < static_cast<std::size_t>(config_.threads) ||
         !std::all_of(running.begin(), running.end(),
                      [&](task_range const& r) { return r.first < config_.costly; });
}

void farm_reports::maybe_ask(held_tasks const& held, farm_actions& out) {
  if (may_ask(held)) ask(held, out);
}

void farm_reports::ask(held_tasks const& held, farm_actions& out) {
  asked_ = true;
  ticks_ = 0;
  say(farm::ask{wanted(held), here(held), std::exchange(refused_by_, std::nullopt)}, out);
}

void farm_reports::ask_again(held_tasks const& held, farm_actions& out) const {
  if (asked_) say(farm::ask{wanted(held), here(held), {}}, out);
}

// --- tasks

void farm_reports::ended(task_range const& tasks) {
  untold_.ended(tasks);
  finished_ += tasks.count;
}

void farm_reports::measured(double tasks, double seconds) {
  unsent_seconds_ += seconds;
  if (tasks <= 0) return;
  cost_.weight = std::min(cost_.weight + tasks, std::max(tasks, remembered_tasks));
  cost_.value += (std::max(seconds, tasks * 1e-9) / tasks - cost_.value) * tasks / cost_.weight;
}

std::optional<farm::load> farm_reports::here(held_tasks const& held) const {
  if (!config_.directed()) return std::nullopt;
  return farm::load{held.queued(), cost_.value};
}

// The root suspects the tasks that run when this rank is lost. Results messages carry them; a separate
// message is sent if much depends on it, or after a theft, which costs messages anyway.
void farm_reports::tell_begun(held_tasks const& held, farm_actions& out) {
  if (!untold_.due(config_.results.concentrated)) return;
  untold_.take();
  say(farm::begins{held.running(), here(held)}, out);
}

void farm_reports::tell_stock(farm::take_stock const& m, held_tasks const& held, farm_actions& out) const {
  if (m.hello_missing) hello(out);
  say(farm::stock{m.round, finished_, held.all()}, out);
}

// --- results

void farm_reports::maybe_flush(bool resting, held_tasks& held, farm_actions& out) {
  if (held.done() == 0) return;
  bool due = held.dry() && (!config_.results.concentrated || (closed_ && resting));
  if (!due && !config_.results.concentrated &&
      held.done() >= std::max<std::uint64_t>(1, config_.results.batch))
    due = unsent_seconds_ >= config_.wait.seconds * config_.threads ||
          may_ask(held);  // the request travels with them
  if (due) flush(held, out);
}

// One message carries all finished tasks and the request for more (piggybacking [Storm95, §4.4]).
void farm_reports::flush(held_tasks& held, farm_actions& out) {
  farm::results m{held.take_done(), 0, untold_.take(), here(held)};
  unsent_ticks_ = 0;
  unsent_seconds_ = 0;
  if (may_ask(held)) {
    asked_ = true;
    m.wanted = wanted(held);
  }
  ticks_ = 0;
  say(std::move(m), out);
}

}  // namespace skel::role
