// ring_steal's roles without wires, clock and threads: random trees, events in any order, deaths, suspicions.
// What a test wants to know is whether every node of the tree is counted once and every run ends.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ring_steal/role/stealer.hpp"
#include "role/harness_common.hpp"
#include "role/roll_call.hpp"

namespace steal_harness {

namespace role = skel::role;
using harness_common::exploration;
using harness_common::require;
using harness_common::summary;
using harness_common::violation;

struct scenario {
  std::uint64_t seed = 1;
  int ranks = 2;
  std::vector<int> parent;  // of node i; -1 for the first, and parent[i] < i
  bool half = true;         // a loan takes half of what waits; otherwise one task
  skel::ring_order order = skel::ring_order::successors;
  int deaths = 0;
  int suspicions = 0;
  std::optional<int> failing;  // a node that throws
  bool stops_early = false;
  bool records = false;           // checkpoints
  std::optional<int> other_call;  // a rank that makes another call
  std::uint64_t chaos = 300;      // random events before everything is allowed to come to an end
  [[nodiscard]] std::string describe() const;
};

struct event {
  enum class kind : std::uint8_t {
    begin,      // rank a enters the call
    deliver,    // the oldest message from a to b
    start,      // a thread of rank a takes a task
    finish,     // and has run it
    lend,       // rank a has tasks to spare
    away,       // rank a has had none for long
    state,      // rank a can say what its debt n is worth
    retry,      // rank a has rested
    tick,       // rank a
    die,        // rank a; n: of its messages to each rank so many arrive
    detect,     // rank a learns that b is dead
    suspect,    // rank a takes b for dead, wrongly
    heartbeat,  // rank a learns that b lives
    stop        // rank a wants the run to end
  };
  kind what = kind::begin;
  int a = 0, b = 0;
  std::uint64_t n = 0;
};

class world;

/// What an engine may do wrong with statements.
enum class slip : std::uint8_t {
  leaves_out_what_runs,
  leaves_out_what_is_lent,
  states_what_is_lent_as_it_was,  // beside the results that its borrower has stated
  takes_back_what_was_lent,       // beside the stated result
  forgets_a_stated_result,        // when it takes the tasks back
};

struct fault : harness_common::fault<world, event, role::steal_actions, role::peer_message> {
  virtual bool slips(slip) { return false; }
};

class world {
 public:
  explicit world(scenario const& s, fault* f = nullptr);
  /// One random event. False: none is possible.
  bool step(std::mt19937_64& dice);
  void apply(event const& e);
  /// Everything that can go on, for exploration; `ticks`: while so many have not happened.
  [[nodiscard]] std::vector<event> possible(std::uint64_t ticks) const;
  /// No more trouble: the run must end.
  void settle(std::mt19937_64& dice);
  [[nodiscard]] bool ended() const;
  void check_end() const;
  [[nodiscard]] int deaths() const { return deaths_; }
  [[nodiscard]] bool died_at_work() const { return died_at_work_; }
  [[nodiscard]] std::uint64_t again() const;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  using counts = std::vector<std::uint8_t>;  // per node of the tree
  struct store {
    std::vector<int> waiting;  // nodes, the oldest first
    counts result;
  };
  // A result so far, and tasks that are left: of a debt, a loan, or the whole run.
  struct statement {
    std::vector<int> tasks;
    counts result;
  };
  struct loan {
    role::debt_id of = 0;
    std::vector<int> lent;
    statement worth;
  };
  struct packet {
    role::peer_message what;
    statement body;
  };
  struct node {
    role::stealer role;
    std::map<role::debt_id, store> debts;
    std::map<role::loan_id, loan> lent;
    std::optional<std::pair<role::debt_id, int>> running;
    std::uint64_t ran = 0;
    bool begun = false, alive = true, ended = false, draining = false;
    bool told_quiet = false;
    std::string failure;
    std::optional<role::outcome> how;
    counts result;
  };

  [[nodiscard]] node& at(int rank) { return nodes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] node const& at(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::size_t wire(int from, int to) const {
    return static_cast<std::size_t>(from * scenario_->ranks + to);
  }
  [[nodiscard]] bool active(int rank) const { return at(rank).begun && at(rank).alive && !at(rank).ended; }
  [[nodiscard]] bool deliverable(int from, int to) const;
  void begin(int rank);
  void deliver(int from, int to);
  void receive(int from, int to, packet p);
  void finish(int rank);
  void die(int rank, std::uint64_t last_words);
  void lose(int rank, int peer);
  void tick(int rank);
  void perform(int rank, role::steal_actions& list, packet* cause = nullptr);
  void send_all(role::call_messages& list);
  void perform_send(int rank, role::loan_action::send& s);
  void follow_up(int rank);
  [[nodiscard]] counts none() const { return counts(scenario_->parent.size()); }
  [[nodiscard]] statement state(int rank, role::debt_id debt) const;
  [[nodiscard]] counts value(statement const& s) const;
  void record(statement const& s);
  void check_early_result() const;
  void check_last_record() const;
  [[nodiscard]] bool slips(slip which) const { return fault_ != nullptr && fault_->slips(which); }

  std::shared_ptr<scenario const> scenario_;
  std::shared_ptr<std::vector<std::vector<int>> const> children_;
  fault* fault_ = nullptr;
  std::vector<node> nodes_;
  role::roll_call roll_;
  std::vector<std::vector<packet>> wires_;
  std::vector<bool> lost_;  // wire(a, b): a takes b for lost
  counts total_;
  std::optional<statement> recorded_;  // the root's latest: a job may be started again from it at any moment
  std::uint64_t tasks_ = 0, statements_ = 0;
  int deaths_ = 0, suspicions_ = 0;
  std::uint64_t ticks_ = 0;
  bool complete_ = false, failed_ = false, asked_to_stop_ = false, died_at_work_ = false;
};

[[nodiscard]] scenario random_scenario(std::uint64_t seed);
/// At least one death.
[[nodiscard]] scenario death_scenario(std::uint64_t seed);
/// Throws violation with the seed that replays it.
summary run(scenario const& s, fault* f = nullptr);

/// Every order of events, to the end, each state once; `ticks` events of time and, with checkpoints,
/// statements at most.
[[nodiscard]] exploration explore(scenario const& s, std::uint64_t ticks, std::uint64_t most_states);

}  // namespace steal_harness
