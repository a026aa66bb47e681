// The sink of a simulated farm.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>

#include "protocol/digest.hpp"
#include "skel/detail/task_range.hpp"

namespace farm_harness {

/// Results come in any order. An ordered sink takes them in the order of the tasks, and skips those that are
/// left out.
struct result_sink {
  bool ordered = false;
  std::optional<std::uint64_t> fails_at{};  // after this many results
  std::deque<skel::task_id> queue{};        // results that wait for the sink
  std::set<skel::task_id> early{}, left_out{};
  skel::task_id next = 0;      // ordered: the sink waits for this task
  std::uint64_t received = 0;  // results
  std::optional<skel::task_id> bad{};

  template <class Ids>
  void push(Ids const& ids) {
    queue.insert(queue.end(), ids.begin(), ids.end());
  }
  void leave_out(skel::task_id id) {
    left_out.insert(id);
    if (ordered) queue.push_back(id);
  }
  void take(std::uint64_t most) {
    for (; most > 0 && !queue.empty() && !bad; --most) {
      auto const id = queue.front();
      queue.pop_front();
      if (ordered)
        early.insert(id);
      else
        take_one(id);
    }
    for (; ordered && early.contains(next); ++next) {
      if (!left_out.contains(next)) take_one(next);
      if (bad) return;
    }
  }
  void add_to(skel::role::digest& d) const {
    for (auto const id : queue) d.add(id);
    for (auto const id : early) d.add(id);
    for (auto const id : left_out) d.add(id);
    d.add(queue.size()).add(early.size()).add(left_out.size()).add(received);
  }
  friend bool operator==(result_sink const&, result_sink const&) = default;

 private:
  void take_one(skel::task_id id) {
    if (fails_at == received) bad = id;
    if (!bad) ++received;
  }
};

}  // namespace farm_harness
