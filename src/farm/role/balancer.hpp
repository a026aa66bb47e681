// Work for the ranks of a farm that are idle when all tasks are granted.
#pragma once

#include "farm/role/book.hpp"

namespace skel::role {

/// Names a victim to an idle rank, or gives it a copy of a task that runs on a slower rank. Tasks that are
/// very late are copied before. A regular value, part of farm_root.
class farm_balancer {
 public:
  farm_balancer() = default;
  explicit farm_balancer(farm_root_config const& config);

  /// Whether the root names victims at all.
  [[nodiscard]] bool on() const { return on_; }
  /// Returns true if the rank was given a victim or, with `copies`, a copy.
  bool direct(rank_id rank, bool copies, farm_book& book, farm_actions& out);
  /// Serves ranks that asked in vain, once there is something for them. Late tasks are searched for at
  /// intervals, because that looks at all ranks. `at_once`: skip the pause.
  void direct_idle(bool at_once, farm_book& book, farm_actions& out);
  /// Learns from tasks that the rank has finished.
  void learn(rank_id rank, range_list const& done, farm_book& book) const;
  /// Whether the root should begin none of the last tasks: the call waits for the end of its task, and the
  /// delay to be expected is longer than the others need for one more task.
  [[nodiscard]] bool leaves_to_others(farm_book& book) const;
  /// While other tasks wait: gives copies of those that would end after all others to fast ranks, which run
  /// them next.
  void give_early_copies(farm_book& book, farm_actions& out);
  friend bool operator==(farm_balancer const&, farm_balancer const&) = default;

 private:
  // When late tasks were last searched for.
  struct searches {
    double idle = 0;
    double early = 0;       // for ranks that have other tasks
    double vain_until = 0;  // until then ranks of vain_speed and slower ones need not search
    double vain_speed = 0;
  };
  bool give_copy(rank_id rank, farm_book& book, farm_actions& out);
  [[nodiscard]] bool may_copy(rank_id owner, task_range const& tasks, farm_book const& book) const;

  bool on_ = false;
  bool copies_ = false;
  rank_id root_ = 0;
  std::optional<rank_id> in_place_;  // results of this rank have no copies
  searches searched_;
};

}  // namespace skel::role
