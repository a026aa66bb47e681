// A simulated farm without clock, threads or wires: one ledger and N workers as plain values. A seed, or an
// exhaustive search, chooses each next event.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "farm/role/ledger.hpp"
#include "farm/role/worker.hpp"
#include "role/harness_common.hpp"

namespace harness {

using skel::range_list;
using skel::task_id;
using skel::task_range;
namespace role = skel::role;
using harness_common::exploration;
using harness_common::require;
using harness_common::summary;
using harness_common::violation;

/// The parameters of a run; its events come from the seed (or from the exhaustive search).
struct scenario {
  std::uint64_t seed = 0;
  int ranks = 2;
  bool root_serves = false;
  std::uint64_t tasks = 0;
  bool stream = false;  ///< tasks travel, and the root learns of them in pieces
  bool costly = false;  ///< the costs are known: the first task costs most
  skel::farm_policy policy;
  skel::results_policy results;
  bool ordered = false;
  bool merged = false;
  std::uint64_t window = 0;
  int threads = 1;
  std::uint64_t most_at_once = 1;  ///< largest limit of a compute thread

  bool ticks = true;                    ///< false: the run must end without ticks
  int deaths = 0;                       ///< maximum number of ranks that die
  int suspicions = 0;                   ///< maximum number of false suspicions
  unsigned lost_in = 0;                 ///< one message in this many between living ranks is lost; 0: none
  unsigned duplicated_in = 0;           ///< one message in this many arrives twice
  int late = 0;                         ///< ranks that begin late
  std::optional<task_id> failing_from;  ///< this task and all later ones throw
  std::uint64_t failing_every = 1;
  skel::error_policy on_error;      ///< what happens to tasks that throw
  std::optional<int> failing_rank;  ///< every task throws on this rank, and no other does
  std::vector<task_id> poison;      ///< a rank that runs one of these dies
  bool last_words = false;          ///< all messages of a dead rank arrive before its loss is noticed
  bool from_outside = false;        ///< the root learns that ranks that do not die of poison were killed
  unsigned most_losses = 0;         ///< see farm_ledger_config
  std::optional<task_id> sink_fails_at;
  std::optional<std::uint64_t> source_fails_at;
  bool stops_early = false;
  std::optional<int> other_call;  ///< this rank makes another call than the root
  std::uint64_t first_grant = 0;
  bool resumed = false;           ///< the run continues an earlier one,
  std::vector<task_id> restored;  ///< which left these results; in ascending order
  unsigned send_after_ticks = 0;  ///< see farm_worker_config
  bool holds_back = false;        ///< the root sometimes keeps the remaining tasks for itself
  double audit = 0;               ///< see farm_ledger_config
  bool audit_holds = false;       ///< likewise
  std::optional<int> liar;        ///< this rank's results of one task in `lies_in` are wrong
  std::uint64_t lies_in = 1;
  bool timed = false;         ///< the root has a clock: a millisecond per event
  std::uint64_t chaos = 100;  ///< number of random events before the run is made to end

  /// True if nothing makes a task run twice.
  [[nodiscard]] bool calm_but_for_the_liar() const {
    return deaths == 0 && suspicions == 0 && lost_in == 0 && poison.empty();
  }
  [[nodiscard]] bool calm() const { return calm_but_for_the_liar() && !liar; }
  [[nodiscard]] std::string describe() const;
};

/// Draws a scenario of any kind that the protocol promises to survive.
[[nodiscard]] scenario random_scenario(std::uint64_t seed);
/// Draws a scenario with at least one death.
[[nodiscard]] scenario death_scenario(std::uint64_t seed);
/// Draws one that continues an earlier run; ranks may die.
[[nodiscard]] scenario resumed_scenario(std::uint64_t seed);
/// Draws one whose failed tasks run again or are left out.
[[nodiscard]] scenario failing_scenario(std::uint64_t seed);
/// Draws one with tasks that kill any rank that runs them.
[[nodiscard]] scenario poison_scenario(std::uint64_t seed);
/// Draws one whose ranks die for other reasons while tasks may be blamed.
[[nodiscard]] scenario blaming_scenario(std::uint64_t seed);
/// Draws one that audits its results; a rank may lie.
[[nodiscard]] scenario audited_scenario(std::uint64_t seed);
/// Draws a scenario with a ring of 64 ranks; may include deaths.
[[nodiscard]] scenario wide_ring_scenario(std::uint64_t seed);

struct event {
  enum class kind : std::uint8_t {
    begin,      ///< a: rank
    deliver,    ///< a -> b: the oldest message; n = 1: it arrives once more later
    idle,       ///< a: rank, b: thread, n: limit
    finish,     ///< a: rank, b: thread, n: tasks of the front that are done, more: next limit
    tick,       ///< a: rank, or everybody
    die,        ///< a: rank, n: number of its messages that still reach the root
    detect,     ///< a: a dead rank that is noticed
    suspect,    ///< a: a living rank that is declared dead
    heartbeat,  ///< a: a rank that shows that it lives
    supply,     ///< n: new tasks, more = 1: the last ones
    sink,       ///< n: maximum number of results
    source_fails,
    stop_early,   ///< by the root
    hold_back,    ///< n: 1 begins, 0 ends
    please_stop,  ///< a: rank
  };
  kind what = kind::tick;
  int a = 0, b = 0;
  std::uint64_t n = 0, more = 0;
};

inline constexpr int everybody = -1;

[[nodiscard]] std::vector<task_id> ids_of(range_list const& ranges);

class world;

struct fault : harness_common::fault<world, event, role::farm_actions, role::farm_message> {
  /// The number of results that the ledger believes the sink has received.
  virtual std::uint64_t sunk(std::uint64_t count) { return count; }
};

/// The state of all ranks and wires. A regular value: the exhaustive search keeps many.
class world {
 public:
  explicit world(scenario const& s, fault* f = nullptr);

  /// Applies one event. Throws violation if an invariant does not hold afterwards.
  void apply(event const& e);
  [[nodiscard]] bool ended() const;
  /// Checks what must hold at the end of a run.
  void check_end() const;

  /// All possible next events, for the exhaustive search. Ticks only while `early_ticks` last or when nothing
  /// else can happen.
  [[nodiscard]] std::vector<event> possible(int early_ticks) const;
  /// Applies a random event. Returns false if the drawn event is not possible now.
  bool step(std::mt19937_64& dice);
  /// Injects no more faults: delivers, computes and sinks everything, and lets time pass until all ranks end.
  void settle(std::mt19937_64& dice);

  [[nodiscard]] std::uint64_t hash() const;
  friend bool operator==(world const& x, world const& y) { return x.state_ == y.state_; }
  [[nodiscard]] scenario const& plan() const { return *scenario_; }
  [[nodiscard]] int deaths() const { return state_.deaths; }
  /// Whether a rank died while tasks had no result.
  [[nodiscard]] bool died_at_work() const { return state_.died_at_work; }
  [[nodiscard]] std::uint64_t again() const { return state_.ledger.handed_out_again(); }
  /// Whether a task was blamed for the loss of ranks that ran it.
  [[nodiscard]] bool blamed() const;

 private:
  struct packet {
    std::uint64_t sequence = 0;
    role::farm_message what;
    std::vector<task_id> content;  // tasks whose results or payloads travel along
    friend bool operator==(packet const&, packet const&) = default;
  };
  struct thread {
    std::optional<task_range> todo;
    bool payloads = true;  // it holds the payloads of its tasks
    friend bool operator==(thread const&, thread const&) = default;
  };
  struct node {
    role::farm_worker worker;
    bool alive = true;
    bool begun = false;
    bool ended = false;
    bool draining = false;
    bool stop_asked = false;
    bool rested = false;  // has asked for work since the last change
    bool failed = false;
    std::vector<thread> threads;
    std::vector<task_id> held;  // finished, results not sent
    std::vector<task_id> payloads;
    role::outcome outcome;
    friend bool operator==(node const&, node const&) = default;
  };
  struct state {
    role::farm_ledger ledger;
    std::vector<node> nodes;
    std::vector<std::vector<packet>> wires;  // from * ranks + to
    std::vector<packet> to_self;
    std::vector<std::uint64_t> sent, received;  // sequence numbers, likewise
    std::vector<bool> suspected;                // by the root
    std::vector<bool> detected;                 // dead and noticed
    std::vector<std::uint8_t> recorded;         // per task: times
    std::vector<std::uint8_t> counted;          // per task: times its result entered the total (merged)
    std::vector<std::uint8_t> forgotten;
    std::vector<std::uint8_t> left_out;  // per task
    std::vector<std::vector<task_id>> sink_queue;
    std::vector<std::vector<task_id>> waiting;  // with audits: per rank, results that wait for the sink
    std::vector<bool> wrong;                    // per task: the sink is to receive a wrong result
    std::vector<bool> early;                    // ordered: recorded, its turn has not come
    std::uint64_t supplied = 0, sunk = 0;
    std::uint64_t next = 0;  // ordered: the sink waits for this task
    bool source_ended = false, source_failed = false, sink_failed = false, asked_to_stop = false;
    bool task_failed = false, died_at_work = false;
    double seconds = 0;
    int deaths = 0, suspicions = 0, ticks = 0;
    std::vector<std::uint8_t> ran_at_death;  // per task: ranks that died while they ran it
    bool root_died = false;                  // killed by a task
    friend bool operator==(state const&, state const&) = default;
  };

  [[nodiscard]] node& at(int rank) { return state_.nodes[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] node const& at(int rank) const { return state_.nodes[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::size_t wire(int from, int to) const {
    return static_cast<std::size_t>(from * scenario_->ranks + to);
  }
  [[nodiscard]] bool lost(int rank) const {
    return state_.suspected[static_cast<std::size_t>(rank)] ||
           state_.detected[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] bool deliverable(int from, int to) const;
  [[nodiscard]] bool may_die(int rank) const;
  [[nodiscard]] bool fails(task_id id, int rank) const;
  void leave_out(role::farm::leave_out const& task);
  [[nodiscard]] bool is_poison(task_id id) const;
  void take_poison(int rank, task_id id, std::uint64_t lost_words);
  void remember_what_it_ran(int rank);
  void check_blame(role::outcome const& how) const;
  [[nodiscard]] bool survives_a_bad_rank(role::outcome const& how) const;
  [[nodiscard]] std::optional<event> random_event(std::mt19937_64& dice) const;
  void work_off(std::mt19937_64& dice);

  void begin(int rank);
  void deliver(event const& e);
  void receive(int from, int to, packet p);
  void idle(event const& e);
  void finish(event const& e);
  void tick(int rank);
  void die(event const& e);
  void suspect(int rank);
  void supply(event const& e);
  void sink(std::uint64_t most);
  void perform(int rank, bool from_ledger, role::farm_actions& list, thread* t = nullptr);
  void send(int from, int to, role::farm_message const& m);
  void start_thread(int rank, thread& t, task_range const& range);
  void take_results(int from, packet const& p, range_list const& accepted, bool was_stopping);
  [[nodiscard]] std::uint64_t version(task_id id, int rank) const;
  void accept(role::farm::accept const& v);
  void discard(int rank);
  void sink_released();
  void check_audits() const;
  [[nodiscard]] bool may_be_unsettled() const;
  void drain_self();
  void check_window() const;
  void restore();

  std::shared_ptr<scenario const> scenario_;
  fault* fault_;
  std::uint64_t losses_ = 0;  // state of the generator that chooses lost messages
  range_list accepted_;
  bool delivering_ = false;
  bool was_stopping_ = false;  // before the event
  int sender_ = 0;             // of the message that is delivered
  std::vector<int> released_;
  state state_;
};

/// Runs a scenario to its end. Throws violation (with seed and description).
summary run(scenario const& s, fault* f = nullptr);

/// Tries every order of events of a small scenario; visits each state once.
[[nodiscard]] exploration explore(scenario const& s, int early_ticks, std::uint64_t most_states, bool exact,
                                  fault* f = nullptr);

}  // namespace harness
