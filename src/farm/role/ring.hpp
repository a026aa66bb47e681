// One rank of a farm as thief and victim on the ring: phase 2 of GDC [Lee97, §3].
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "farm/role/action.hpp"
#include "farm/role/config.hpp"
#include "farm/role/held_tasks.hpp"
#include "farm/role/reports.hpp"
#include "protocol/ring_search.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

/// Looks for ranks that have tasks, and answers ranks that look for some. The tasks themselves are in the
/// member's held_tasks. `works`: this rank takes and gives tasks. Each on()
/// returns true if this rank must look elsewhere. A regular value; events append their
/// actions to `out`.
class farm_ring {
 public:
  farm_ring() = default;
  farm_ring(rank_id self, std::uint64_t threads, double power, farm_ring_config const& config);

  // --- thief
  /// This rank has nothing left to begin; a compute thread runs `reach` tasks in a round trip. Asks the next
  /// rank on the ring, unless an answer is due. Returns true if it sent a request or came to rest.
  bool seek(held_tasks const& held, std::uint64_t reach, farm_actions& out);
  /// If the root names the victims: whether this rank should ask it for one.
  [[nodiscard]] bool wants_to_be_told(held_tasks const& held, std::uint64_t reach) const;
  /// The root has named a victim.
  bool on(rank_id root, farm::take_from const& m, bool works, held_tasks& held, farm_reports& reports,
          farm_actions& out);
  /// The root knows no victim.
  void rest() { resting_ = true; }
  [[nodiscard]] bool directed() const { return config_.directed; }
  /// The victim has given tasks, ...
  bool on(rank_id victim, farm::give const& m, bool works, held_tasks& held, farm_reports& reports,
          farm_actions& out);
  /// ... or had none.
  bool on(rank_id victim, farm::none const& m, bool works, held_tasks& held, farm_reports& reports,
          farm_actions& out);
  /// A rank is lost. Returns true if this rank was waiting for its answer.
  bool lost(rank_id rank);
  /// Repeats the request after some ticks without an answer. Returns true if it did.
  bool repeat(farm_actions& out);

  // --- victim
  bool on(rank_id thief, farm::steal const& m, bool works, held_tasks& held, farm_reports& reports,
          farm_actions& out);
  /// The root has granted tasks, which are among those held.
  void granted(farm::grant const& m, held_tasks& held, farm_actions& out);

  void heard(rank_id rank) { search_.heard(rank); }
  /// True if the search found nothing and this rank waits for tasks.
  [[nodiscard]] bool resting() const { return resting_; }
  friend bool operator==(farm_ring const&, farm_ring const&) = default;
  auto fields() const {
    return std::tie(search_, victim_, searching_, resting_, unanswered_, most_, hungry_, held_by_others_,
                    copied_, may_copy_);
  }

 private:
  void answered(rank_id victim) {
    if (victim_ == victim) victim_.reset();
  }
  void feed_hungry(held_tasks& held, farm_actions& out);
  void ask(rank_id victim, bool copy, farm_actions& out);
  [[nodiscard]] bool copies() const { return config_.copies && !config_.directed; }
  void give(rank_id thief, std::uint64_t most, held_tasks& held, farm_actions& out);
  [[nodiscard]] std::uint64_t spare(held_tasks const& held) const;
  [[nodiscard]] double copier_of(task_range const& r) const;
  [[nodiscard]] range_list worth_a_copy(double power, held_tasks const& held) const;
  void forget_thief(rank_id rank) { std::erase(hungry_, rank); }

  farm_ring_config config_;
  std::uint64_t threads_ = 1;
  double power_ = 0;
  ring_search search_;
  std::optional<rank_id> victim_;  // was asked and has not answered
  bool searching_ = false;
  bool resting_ = false;
  unsigned unanswered_ = 0;
  std::uint64_t most_ = 0;       // tasks to take as the root said
  std::vector<rank_id> hungry_;  // ranks that asked in vain
  bool held_by_others_ = false;
  struct copied {
    task_range task;
    double power;  // of the fastest rank that has a copy; infinite: this is a copy itself
  };
  std::vector<copied> copied_;
  struct candidate {
    rank_id rank;
    double power;
  };
  std::vector<candidate> may_copy_;  // ranks found in this search that run tasks worth copying
};

}  // namespace skel::role
