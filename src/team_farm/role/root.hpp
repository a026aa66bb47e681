// The root's side of a farm of teams: forms teams, gives each one task at a time, and records results.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "message.hpp"
#include "protocol/by_rank.hpp"
#include "protocol/membership.hpp"
#include "protocol/roll_call.hpp"
#include "protocol/task_set.hpp"
#include "skel/on_error.hpp"

namespace skel::role {

struct team_root_config {
  rank_id root = 0;
  rank_id ranks = 0;         ///< of the run, the root included
  rank_id first_worker = 0;  ///< this rank and those after it compute
  bool ordered = false;      ///< the sink takes tasks in order: the window counts from the first missing one
  std::uint64_t window = 0;  ///< most tasks begun whose results the sink has not received; 0: no limit
  std::uint64_t call_hash = 0;
  unsigned most_losses = 0;  ///< a task that loses ranks this often ends the run; 0: never
  error_policy on_error{};
  range_list restored{};  ///< tasks with results from an earlier run; they are not given
  friend bool operator==(team_root_config const&, team_root_config const&) = default;
};

/// List scheduling: the largest teams first, among them the most costly tasks, smaller ones where these do
/// not fit. The ranks of a team are free again when the task has ended on all of them, so teams of one size
/// stay together. A task whose team loses a rank runs again; the survivors join other teams. A regular value;
/// events append their actions to `out`.
class team_root {
 public:
  team_root() = default;
  explicit team_root(team_root_config config);

  /// The source has produced tasks [0, available), and `sizes` are the ranks wanted by the new ones.
  /// `ended`: these are all. `costs`: of all tasks; empty: unknown.
  void supplied(std::uint64_t available, bool ended, std::span<int const> sizes,
                std::span<double const> costs, team_actions& out);
  /// The sink has received `count` results so far. An ordered sink waits for task `next`.
  void sunk(std::uint64_t count, task_id next, team_actions& out);
  /// The window holds this many tasks, but at least one per rank, and at most what the configuration says.
  void resize_window(std::uint64_t tasks);
  void sink_failed(task_id id, std::string text, team_actions& out);
  void source_failed(std::string text, team_actions& out);
  void stop_early(team_actions& out);
  void on(rank_id from, team_message const& m, team_actions& out);
  void lost(rank_id rank, team_actions& out);
  /// The rank was killed from outside: its loss counts half. Comes before lost().
  void from_outside(rank_id rank) { lost_.from_outside(rank); }
  void tick(team_actions& out);
  void abort(std::string text, team_actions& out);

  /// Whether this rank is the root of the team that runs the job, so that its result is to be kept until
  /// accept or drop.
  [[nodiscard]] bool awaits_result(rank_id from, job_id id) const;
  [[nodiscard]] bool finished() const { return roll_.finished(); }
  [[nodiscard]] bool stopping() const { return roll_.stopping(); }
  [[nodiscard]] std::uint64_t available() const { return available_; }
  [[nodiscard]] std::uint64_t pooled() const { return pooled_; }
  [[nodiscard]] std::uint64_t recorded() const { return recorded_.count(); }
  [[nodiscard]] std::uint64_t handed_out_again() const { return handed_out_again_; }
  [[nodiscard]] std::size_t running() const { return jobs_.size(); }
  [[nodiscard]] std::size_t free_ranks() const { return free_.size(); }
  [[nodiscard]] std::vector<rank_id> lost_ranks() const { return roll_.lost_ranks(); }
  [[nodiscard]] std::vector<rank_id> not_stopped() const { return roll_.not_stopped(); }
  friend bool operator==(team_root const&, team_root const&) = default;

 private:
  struct job {
    task_id task = 0;
    std::uint64_t wanted = 1;
    std::vector<rank_id> ranks{};
    std::set<rank_id> inside{};  // where it has not ended
    bool has_result = false;
    bool cancelled = false;
    std::set<rank_id> overran{};                               // these may end themselves
    std::optional<std::pair<rank_id, std::string>> failure{};  // the first
    std::set<rank_id> doubted{};  // a rank of the team or the root has thought them lost
    std::vector<rank_id> lost{};  // the root thinks them lost
    friend bool operator==(job const&, job const&) = default;
  };
  struct member {
    bool hello = false;
    std::optional<job_id> inside{};  // until it has ended there, also if the rank was thought lost meanwhile
    std::optional<job_id> held{};    // until it has ended on all ranks of the team
    job_id team = 0;                 // its latest one, by its first job; 0: none
    friend bool operator==(member const&, member const&) = default;
  };
  // A task that lost ranks as often as a task may.
  struct accused {
    std::uint64_t wanted = 1;
    unsigned ticks = 0;
    friend bool operator==(accused const&, accused const&) = default;
  };
  using waiting_tasks = std::map<std::uint64_t, std::deque<task_range>, std::greater<>>;  // by team size

  template <class... Parameters, class... Arguments>
  void roll(team_actions& out, void (roll_call::*step)(Parameters...), Arguments&&... arguments) {
    call_messages told;
    (roll_.*step)(std::forward<Arguments>(arguments)..., told);
    tell(told, out);
  }
  void tell(call_messages& told, team_actions& out) const;
  void count_able();
  void update_free(rank_id rank);
  void form(team_actions& out);
  [[nodiscard]] bool has_room(task_id id) const;
  [[nodiscard]] waiting_tasks::iterator next_task(std::uint64_t& size);
  [[nodiscard]] std::vector<rank_id> take_ranks(std::size_t count);
  void give(task_id task, std::uint64_t wanted, std::vector<rank_id> ranks, team_actions& out);
  [[nodiscard]] bool before(task_id a, task_id b) const;
  void put_back(task_id task, std::uint64_t wanted);
  void on_ended(rank_id from, team::ended const& m, team_actions& out);
  void fail(job_id id, job& j, rank_id rank, std::string text, team_actions& out);
  void cancel(job_id id, job& j, rank_id because_of, std::string const& text, team_actions& out);
  void settle(job_id id, team_actions& out);
  void settle_failure(job const& j, team_actions& out);
  void settle_loss(job const& j);
  [[nodiscard]] bool loses_too_often(task_id task) const;
  void heard(rank_id rank, team_actions& out);
  void blame(task_id task, team_actions& out);
  void give_up(team::leave_out task, team_actions& out);
  void maybe_complete(team_actions& out);

  team_root_config config_;
  std::uint64_t window_ = 0;  // config_.window, or what resize_window() made of it
  roll_call roll_;
  by_rank<member> members_;
  membership lost_;
  bool enlisted_ = false;   // the root computes, because no other rank is left
  std::uint64_t able_ = 0;  // living ranks that compute
  bool all_here_ = false;   // every rank has said hello, or was lost
  unsigned ticks_ = 0;      // until then
  std::set<rank_id> free_;
  waiting_tasks waiting_;
  std::uint64_t pooled_ = 0;  // tasks in waiting_
  std::uint64_t passed_ = 0;  // tasks that began while the largest one waited for ranks
  std::map<job_id, job> jobs_;
  job_id last_job_ = 0;
  std::map<job_id, std::vector<rank_id>> teams_;  // those that may run another task together
  std::map<task_id, unsigned> failures_;
  std::map<task_id, std::vector<std::vector<rank_id>>> losses_;  // per task, per job: the ranks lost
  std::map<task_id, accused> accused_;
  task_set recorded_;
  std::vector<double> costs_;  // of each task; empty: unknown
  std::uint64_t available_ = 0;
  bool source_ended_ = false;
  task_id restored_end_ = 0;
  std::uint64_t sunk_ = 0;
  task_id sink_next_ = 0;
  std::uint64_t left_out_ = 0;
  std::uint64_t handed_out_again_ = 0;
};

}  // namespace skel::role
