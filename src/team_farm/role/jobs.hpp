// The tasks that run on teams now, and how they end.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ranks.hpp"

namespace skel::role {

/// A task on a team.
struct team_job {
  job_id number = 0;
  task_id task = 0;
  std::uint64_t wanted = 1;  ///< ranks; the team may be smaller
  std::vector<rank_id> ranks{};
  std::set<rank_id> inside{};  ///< where it has not ended
  bool has_result = false;
  bool cancelled = false;
  std::set<rank_id> overran{};                               ///< these may end themselves
  std::optional<std::pair<rank_id, std::string>> failure{};  ///< the first
  std::set<rank_id> doubted{};  ///< a rank of the team or the root has thought them lost
  std::vector<rank_id> lost{};  ///< the root thinks them lost

  /// Whether the task itself failed: after a loss, ranks may have failed because of it.
  [[nodiscard]] bool failed() const;
};

/// A job that fails or loses a rank is cancelled on the other ranks of its team. Events
/// append their actions to `out`.
class team_jobs {
 public:
  /// Gives the task to a team of `size` of the free ranks.
  void give(task_id task, std::uint64_t wanted, std::size_t size, team_ranks& ranks, team_actions& out);
  /// The job of this number if it runs on `rank`, or null.
  [[nodiscard]] team_job* find(rank_id rank, job_id number);
  /// The job has ended on this rank; the rank is lost with the job. If it was the last one, it is over:
  /// returns and forgets it.
  [[nodiscard]] std::optional<team_job> ended(rank_id rank, team_job& j, team::ended const& m,
                                              team_ranks& ranks, team_actions& out);
  [[nodiscard]] std::optional<team_job> lost(rank_id rank, team_job& j, team_ranks& ranks, team_actions& out);
  void fail(rank_id rank, team_job& j, std::string text, team_ranks& ranks, team_actions& out);
  /// A rank that was thought lost is not.
  void heard(rank_id rank);
  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  static void cancel(team_job& j, rank_id because_of, std::string const& text, team_ranks& ranks,
                     team_actions& out);
  [[nodiscard]] std::optional<team_job> take_if_over(team_job& j);

  std::map<job_id, team_job> all_;
  job_id last_ = 0;
};

}  // namespace skel::role
