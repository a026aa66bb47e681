#include "threads.hpp"

#include <algorithm>

#include "call/quantum.hpp"
#include "call/user_code.hpp"

namespace skel::detail {

namespace {

// A quantum takes as many tasks as recent quanta needed. With spawning tasks these are far fewer
// than it runs, and a larger take would be moved back and forth for nothing. This is the minimum.
constexpr std::size_t fewest_taken = 2 * steal_threads::few_tasks;

}  // namespace

std::size_t steal_threads::share(unsigned thread, std::size_t waiting, std::size_t others) const {
  auto const& p = paces_[thread];
  auto const most = std::min<std::size_t>(p.tasks.limit(), std::max(p.takes, fewest_taken));
  return std::min(most, (waiting + others) / (others + 1));
}

void steal_threads::run(steal_books::hand& h, worker_info const& where, quantum& q,
                        std::atomic<bool> const& draining) {
  auto& tasks = paces_[where.thread].tasks;
  double before = engine_.now();
  double const end = before + quantum_seconds;
  while (h.bag->size() > 0) {
    std::uint64_t done = 0;
    auto const account = [&] {
      double const after = engine_.now();
      q.tasks += done;
      tasks.measured(done, after - before);
      before = after;
    };
    try {
      work_.run(*h.bag, *h.sum, tasks.slice(), done, where);
    } catch (...) {
      account();
      throw;
    }
    account();
    bool const wanted = !q.alone && wanted_.load(std::memory_order_relaxed);
    if (before >= end || draining.load(std::memory_order_relaxed) || wanted) return;
    if (before - engine_.driver().last_progress() > slice_seconds) {
      not_of_the_user([&] { engine_.driver().try_progress(slice_seconds); });
      before = engine_.now();
    }
  }
}

double steal_threads::ended(unsigned thread, std::size_t taken, std::size_t left) {
  auto& p = paces_[thread];
  if (left == 0)
    p.takes = taken * 2;
  else if (left > taken / 2)
    p.takes = taken / 2;
  return p.tasks.take_busy();
}

}  // namespace skel::detail
