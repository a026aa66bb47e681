// The ranks of a farm of teams: which are free, and which may run another task together.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "message.hpp"
#include "protocol/by_rank.hpp"
#include "protocol/leave_request.hpp"
#include "protocol/membership.hpp"

namespace skel::role {

/// The ranks of a team are free again when the task has ended on all of them, so teams of one size stay
/// together. A root that only serves computes when no other rank is left.
class team_ranks {
 public:
  team_ranks() = default;
  /// `hosts`: those of the ranks, if a team must not span several; or empty.
  team_ranks(rank_id ranks, rank_id root, rank_id first_computing, std::vector<std::uint64_t> hosts = {});

  void hello(rank_id rank);
  /// Returns false if the rank was lost already.
  bool lost(rank_id rank);
  /// The rank was killed from outside. Comes before lost().
  void from_outside(rank_id rank) { lost_.from_outside(rank); }
  /// Returns true if the rank was lost.
  bool heard(rank_id rank);
  /// The rank is to leave, or stays after all (leave_request): it joins no further team.
  void retires(rank_id rank, std::uint64_t number);
  /// Answers those of the ranks that are to leave and that no team needs.
  void let_go(std::vector<rank_id> const& ranks, team_actions& out) const;
  /// Whether all ranks have said hello, or the first teams have waited long enough for them: formed of those
  /// that come first, they would span hosts.
  [[nodiscard]] bool here();
  /// Returns whether the first teams have waited long enough with this tick.
  bool tick();

  struct team {
    job_id formed = 0;  ///< its first job
    std::vector<rank_id> ranks{};
  };
  /// Takes the free ranks that lie closest together, since these are likely to share hosts, for this job.
  [[nodiscard]] team take(std::size_t size, job_id job);
  /// The job has ended on this rank. Returns false if the rank is not inside it.
  bool left(rank_id rank, job_id job);
  /// The job has ended on all ranks of its team, or they are lost.
  void release(std::vector<rank_id> const& members);
  /// The same ranks would form a new team: they may have got to different places in their task.
  void part(std::vector<rank_id> const& members);

  [[nodiscard]] bool has(rank_id rank) const { return all_.has(rank); }
  /// The job that runs on this rank, also if the rank was thought lost meanwhile.
  [[nodiscard]] std::optional<job_id> inside(rank_id rank) const { return all_[rank].inside; }
  [[nodiscard]] membership const& losses() const { return lost_; }
  /// The largest team that the living ranks can form, without those that are to leave.
  [[nodiscard]] std::uint64_t able() const { return able_; }
  /// The largest one of those that are free now.
  [[nodiscard]] std::size_t free() const { return hosts_.empty() ? free_.size() : most_together(free_); }

 private:
  struct member {
    bool hello = false;
    std::optional<job_id> inside{};
    std::optional<job_id> held{};  // until it has ended on all ranks of the team
    job_id team = 0;               // its latest one, by its first job; 0: none
    std::uint64_t retires = 0;     // the latest request
    [[nodiscard]] bool leaves() const { return is_to_leave(retires); }
  };
  void count_able();
  [[nodiscard]] std::size_t most_together(std::set<rank_id> const& ranks) const;
  [[nodiscard]] std::uint64_t host(rank_id rank) const {
    return hosts_.empty() ? 0 : hosts_[static_cast<std::size_t>(rank)];
  }
  void update_free(rank_id rank);

  rank_id root_ = 0, first_computing_ = 0;
  std::vector<std::uint64_t> hosts_;  // empty: teams may span them
  by_rank<member> all_;
  membership lost_;
  bool enlisted_ = false;  // the root computes, because no other rank is left
  std::uint64_t able_ = 0;
  std::set<rank_id> free_;
  std::map<job_id, std::vector<rank_id>> teams_;  // those that may run another task together
  bool all_here_ = false;                         // every rank has said hello, or was lost
  unsigned ticks_ = 0;                            // until then
};

}  // namespace skel::role
