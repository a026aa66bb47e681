// One rank of a farm as thief and victim on the ring: phase 2 of GDC (gdc section 3).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "farm/role/action.hpp"
#include "farm/role/held_tasks.hpp"
#include "role/ring_search.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

struct farm_ring_config {
  /// The ranks to steal from when the root has nothing (more), in the order of the ring; empty: none.
  std::shared_ptr<std::vector<rank_id> const> ranks{};
  steal_size take = steal_size::half;
  steal_end give = steal_end::last;
  ring_order order = ring_order::successors;
  bool copies = false;  ///< may give and run copies of tasks that run
  friend bool operator==(farm_ring_config const&, farm_ring_config const&) = default;
};

/// Finds ranks that have tasks, and answers those that look for some. The tasks themselves are in the
/// worker's held_tasks. A regular value; events append their actions to `out`.
class farm_ring {
 public:
  farm_ring() = default;
  farm_ring(rank_id self, std::uint64_t threads, double power, farm_ring_config config);

  // --- thief
  /// This rank has nothing left to begin; a compute thread takes `reach` tasks in a round trip. Asks the next
  /// rank on the ring, unless an answer is awaited. True: something has changed, a request or rest.
  bool seek(held_tasks const& held, std::uint64_t reach, farm_actions& out);
  /// The victim has answered, in whatever way.
  void answered(rank_id victim) {
    if (victim_ == victim) victim_.reset();
  }
  /// It has given tasks.
  void given(rank_id victim, farm::give const& m);
  /// A victim had none. False: this rank had not asked it, or asks it no more.
  bool refused(rank_id victim, farm::none const& m);
  /// A rank is lost. True: an answer of it was awaited.
  bool lost(rank_id rank);
  /// After some ticks without an answer, the request is repeated. True: it was, and there is no other one.
  bool repeat(farm_actions& out);
  /// New tasks are here.
  void wake() { resting_ = false; }

  // --- victim
  void on_steal(rank_id thief, farm::steal const& m, bool draining, held_tasks& held, farm_actions& out);
  /// New tasks are here: ranks that asked in vain get some, unless they were given some meanwhile.
  void feed_hungry(held_tasks& held, farm_actions& out);
  /// What this rank has may be held by another one, too.
  void note_held_by_others() { held_by_others_ = true; }
  [[nodiscard]] bool held_by_others() const { return held_by_others_; }

  void heard(rank_id rank) { search_.alive(rank); }
  /// The search came round in vain: this rank waits to be given something.
  [[nodiscard]] bool resting() const { return resting_; }
  friend bool operator==(farm_ring const&, farm_ring const&) = default;
  void hash(digest& d) const;

 private:
  void ask(rank_id victim, bool copy, farm_actions& out);
  void give(rank_id thief, held_tasks& held, farm_actions& out);
  [[nodiscard]] std::uint64_t spare(held_tasks const& held) const;
  [[nodiscard]] double copier_of(task_range const& r) const;
  [[nodiscard]] range_list worth_a_copy(double power, held_tasks const& held) const;
  void forget_thief(rank_id rank) { std::erase(hungry_, rank); }

  farm_ring_config config_;
  std::uint64_t threads_ = 1;
  double power_ = 0;
  ring_search search_;
  std::optional<rank_id> victim_;  // asked, has not answered
  bool searching_ = false;
  bool resting_ = false;
  unsigned unanswered_ = 0;
  std::vector<rank_id> hungry_;  // asked in vain
  bool held_by_others_ = false;
  struct copied {
    task_range task;
    double power;  // of the fastest rank that it was given to; infinite: it is a copy itself
    friend bool operator==(copied const&, copied const&) = default;
  };
  std::vector<copied> copied_;
  struct candidate {
    rank_id rank;
    double power;
    friend bool operator==(candidate const&, candidate const&) = default;
  };
  std::vector<candidate> may_copy_;  // ranks met in this search that run tasks worth a copy
};

}  // namespace skel::role
