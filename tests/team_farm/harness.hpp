// The roles of a farm of teams in a world of peers (protocol/peer_world.hpp). A task meets all ranks of its
// team before it ends, so a rank that is not told of a failure waits for ever.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "farm/harness_sink.hpp"
#include "protocol/peer_world.hpp"
#include "team_farm/role/member.hpp"
#include "team_farm/role/root.hpp"

namespace team_harness {

namespace role = skel::role;
namespace team = skel::role::team;
using role::job_id;
using skel::task_id;

using event = harness_common::peer_event;
using harness_common::require;
using harness_common::summary;
using harness_common::violation;

/// A task that throws in its first `times` jobs.
struct throwing {
  task_id task = 0;
  std::optional<std::size_t> member{};  // of the team, modulo its size; by default all
  unsigned times = 1;
  bool early = true;  // before it meets the other ranks
};

struct scenario : harness_common::peer_scenario {
  std::vector<int> sizes;     // the team that each task wants
  std::vector<double> costs;  // of each task; empty: unknown
  int hosts = 0;              // of the ranks, in turn, if a team must not span several; or 0
  bool serves = false;        // the root does not compute
  bool stream = false;        // tasks come one by one, with payloads
  bool ordered = false;
  std::uint64_t window = 0;
  unsigned most_losses = 2;
  skel::error_policy on_error{};
  std::vector<throwing> throws;
  std::optional<task_id> poison;  // a task that kills a rank of each team that runs it
  std::size_t victim = 0;         // the member that dies
  bool last_words = true;         // everything that a killed rank has sent is delivered
  int overruns = 0;
  int retirements = 0;
  std::optional<std::uint64_t> source_fails_at, sink_fails_at, sink_stops_at;  // after so many tasks
  std::vector<task_id> restored;                                               // ascending
  [[nodiscard]] int host(int rank) const { return hosts == 0 ? 0 : rank % hosts; }
  [[nodiscard]] std::string describe() const;
};

/// The result of a job. It is not whole if the job was cancelled or threw.
struct result {
  job_id job = 0;
  task_id task = 0;
  bool whole = false;
};

struct packet {
  role::team_message what;
  result body;
};

struct node : harness_common::peer_node {
  role::team_member role;
  std::optional<team::run> todo, running;
  bool retires = false;               // it is to leave
  bool entered = false;               // the task itself has begun
  bool overran = false;               // the job that runs
  bool gave_up = false;               // calls on its team fail
  job_id formed = 0;                  // the team of which it has a context
  result made{};                      // travels with the next `ended`
  std::multiset<task_id> payloads{};  // of tasks that have not begun here
};

/// What the world knows of a job.
struct job_record {
  team::run what{};
  std::vector<int> ranks{};
  std::uint64_t number = 0;   // of the jobs of this task
  std::set<int> sent{};       // those that were given it
  std::set<int> arrived{};    // inside the task
  std::set<int> completed{};  // without a failure
  std::set<int> failed{};     // ranks where it threw or overran
  std::set<int> lost{};       // as the root sees them
  bool broken = false;        // a rank of the team thinks that another one is lost
  bool settled = false;       // accepted or dropped
};

struct task_record {
  bool accepted = false, left_out = false, restored = false, forgotten = false;
  std::uint64_t jobs = 0;
};

class world final : public harness_common::peer_world<scenario, node, packet, role::team_actions> {
 public:
  struct fault : peer_world::fault {
    /// The number of results that the root believes the sink has.
    virtual std::uint64_t sunk(std::uint64_t n) { return n; }
    /// Whether the call ends when a rank wants that, whatever runs.
    virtual bool stops_at_once() { return false; }
  };
  explicit world(scenario const& s, fault* f = nullptr);
  void check_end() const;
  [[nodiscard]] std::uint64_t again() const { return root_role_.handed_out_again(); }
  [[nodiscard]] bool blamed() const { return blamed_; }
  /// Number of ranks that the poison has killed.
  [[nodiscard]] unsigned poisoned() const { return poisoned_; }

 private:
  void begin(int rank) override;
  void receive(int from, int to, packet& p) override;
  void hear_lost(int rank, int peer) override;
  void hear_tick(int rank) override;
  void please_stop(int rank) override;
  void send(int rank, int to, role::team_message const& what) override;
  void follow_up(int rank) override;
  void count() override { roll_.count(root_role_.tasks().sunk(), root_role_.handed_out_again()); }
  void stop() override { root_role_.stop(); }
  void add_own(int rank, std::vector<event>& all) const override;
  void apply_own(event const& e) override;
  [[nodiscard]] std::uint64_t most_events() const override;
  [[nodiscard]] std::string waits_for() const override;
  void check_done() const override;
  void check_stopped_early() const override;
  [[nodiscard]] bool may_fail() const override { return root_poisoned_; }
  [[nodiscard]] bool may_blame(role::outcome const& how) const override;
  [[nodiscard]] bool may_end_so(role::outcome const& how) const override;

  // --- the work of the engine
  void perform(int rank, role::team_actions& list);
  void perform(int rank, role::team_action const& action);
  void deliver_own();
  template <class... Parameters, class... Arguments>
  void tell_root_role(void (role::team_root::*what)(Parameters...), Arguments&&... arguments) {
    role::team_actions list;
    (root_role_.*what)(std::forward<Arguments>(arguments)..., list);
    perform(0, list);
  }
  void hear(int from, packet& p);
  void close(role::outcome how) {
    call_roll(&role::roll_call::close, std::move(how));
    deliver_own();
  }
  void accept(team::accept const& a);
  void drop(job_id id);
  void forget(task_id id);
  void leave_out(role::farm::leave_out const& l);

  // --- tasks, the source and the sink
  void start(int rank);
  void finish(int rank);
  void end_job(int rank, std::optional<std::string> failure);
  void overrun(int rank);
  void retire(int rank);
  void take_poison(int rank);
  void supply(std::uint64_t most);
  void sink();
  void tell_sunk();
  [[nodiscard]] bool may_finish(int rank) const;
  [[nodiscard]] bool all_arrived(job_record const& j) const { return j.arrived.size() == j.ranks.size(); }
  [[nodiscard]] throwing const* throws(int rank, team::run const& r) const;
  [[nodiscard]] bool is_victim(int rank, team::run const& r) const;
  [[nodiscard]] bool computes(int rank) const {
    return rank != 0 || !scenario_->serves || scenario_->ranks == 1;
  }

  // --- invariants
  void check_given(int to, team::run const& r);
  void check_new(job_record const& j) const;
  void check_team(job_record const& j) const;
  void check_window(task_id task) const;
  [[nodiscard]] std::uint64_t able() const;
  [[nodiscard]] std::uint64_t failures(task_id task) const;
  [[nodiscard]] std::uint64_t losses(task_id task) const;
  [[nodiscard]] bool is_blamed(task_id task) const {
    return scenario_->most_losses > 0 && losses(task) >= scenario_->most_losses;
  }
  [[nodiscard]] job_record& job(job_id id);

  role::team_root root_role_;
  fault* faults_ = nullptr;
  std::deque<packet> own_;  // the root's messages to itself
  bool delivering_ = false;
  std::map<job_id, job_record> jobs_;
  std::vector<task_record> tasks_;
  std::map<job_id, result> kept_;
  std::vector<bool> seen_alive_;               // by the root
  std::vector<std::optional<job_id>> inside_;  // as the root knows
  std::vector<bool> leaves_;                   // likewise
  bool enlisted_ = false;                      // the root computes because no other rank was left
  std::set<task_id> blamable_;                 // when the root blamed a task
  std::uint64_t supplied_ = 0;
  bool source_ended_ = false;
  farm_harness::result_sink sink_;
  task_id told_next_ = 0;
  std::uint64_t told_sunk_ = 0;
  bool sink_busy_ = false;  // it has received results of which the root does not know
  bool source_failed_ = false, sink_failed_ = false, sink_stopped_ = false;
  bool none_begins_ = false;  // the root has heard that the run is to end early
  bool blamed_ = false, root_poisoned_ = false;
  unsigned poisoned_ = 0;
  int overruns_ = 0, retirements_ = 0;
};

using fault = world::fault;

[[nodiscard]] scenario random_scenario(std::uint64_t seed);
/// A scenario with at least one death.
[[nodiscard]] scenario death_scenario(std::uint64_t seed);
/// A scenario with a task that kills ranks.
[[nodiscard]] scenario poison_scenario(std::uint64_t seed);
/// Runs the scenario. Throws `violation` with the seed that replays it.
summary run(scenario const& s, fault* f = nullptr);

}  // namespace team_harness
