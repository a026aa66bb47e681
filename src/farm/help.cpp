#include "help.hpp"

#include <deque>

#include "role/deal.hpp"
#include "run.hpp"

namespace skel::detail {

void farm_help::handled_results(bool own, std::uint64_t count, double seconds) {
  double const cost = seconds / static_cast<double>(count);
  auto& mean = own ? own_result_cost_ : other_result_cost_;
  double const before = mean.load(std::memory_order_relaxed);  // one thread at a time handles results
  mean.store(before == 0 ? cost : 0.7 * before + 0.3 * cost, std::memory_order_relaxed);
}

bool farm_help::root_is_at_it(double t) const {
  constexpr double lately = 1e-3;
  return t - own_finished_.load(std::memory_order_relaxed) < lately;
}

bool farm_help::costs_more_than_it_brings(double t) const {
  double const task = task_cost_.load(std::memory_order_relaxed);
  double const own = own_result_cost_.load(std::memory_order_relaxed);
  return task > 0 && own > 0 && other_result_cost_.load(std::memory_order_relaxed) > task + own &&
         root_is_at_it(t);
}

// The time of the root's own results and of those that came as bytes is told apart.
sink_stage::progress farm_run::drain_timed(std::deque<sink_stage::entry>& entries) {
  sink_stage::progress progress;
  progress.sunk = sunk_;
  std::deque<sink_stage::entry> alike;
  for (std::size_t i = 0; i < entries.size();) {
    bool const own = !entries[i].batch->is_packed();
    alike.clear();
    for (; i < entries.size() && entries[i].batch->is_packed() != own; ++i) alike.push_back(entries[i]);
    double const begin = now();
    auto const before = progress.sunk;
    progress = sink_.drain(alike);
    if (progress.sunk > before) help_.handled_results(own, progress.sunk - before, now() - begin);
  }
  return progress;
}

// With the lock.
void farm_run::weigh_help() {
  if (!asks_root(policy_) || !computes_ || over_ || ledger_->stopping()) return;
  bool const hold = help_.costs_more_than_it_brings(now());
  if (hold == ledger_->holds_back()) return;
  help_.hold_back(hold);
  role::farm_actions list;
  ledger_->hold_back(hold, list);
  perform(list, nullptr);
}

}  // namespace skel::detail
