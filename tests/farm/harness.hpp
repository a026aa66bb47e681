// The roles of a farm in a world of peers (protocol/peer_world.hpp): a root, and a member on each rank.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "farm/role/member.hpp"
#include "farm/role/root.hpp"
#include "harness_sink.hpp"
#include "protocol/peer_world.hpp"

namespace farm_harness {

namespace role = skel::role;
namespace farm = skel::role::farm;
using skel::range_list;
using skel::task_id;
using skel::task_range;

using event = harness_common::peer_event;
using harness_common::require;
using harness_common::summary;

struct scenario : harness_common::peer_scenario {
  bool root_serves = false;
  std::uint64_t tasks = 0;
  bool stream = false;  // tasks travel, and the root learns of them in pieces
  bool costly = false;  // the costs are known: the first task costs most
  skel::farm_policy policy;
  skel::results_policy results;
  bool ordered = false, merged = false;
  std::uint64_t window = 0;
  int threads = 1;
  std::uint64_t most_at_once = 1;       // largest limit of a compute thread
  int late = 0;                         // ranks that begin late
  std::optional<task_id> failing_from;  // this task throws, and one in `failing_every` of the later ones
  std::uint64_t failing_every = 1;
  std::optional<int> failing_rank;  // every task throws on this rank, and no other does
  skel::error_policy on_error;
  std::vector<task_id> poison;  // a rank that runs one of these dies
  bool last_words = false;      // everything that a poisoned rank has sent is delivered
  bool from_outside = false;    // the root learns that ranks that do not die of poison were killed
  unsigned most_losses = 0;     // see farm_root_config
  std::optional<std::uint64_t> source_fails_at, sink_fails_at;
  std::uint64_t first_grant = 0;
  bool resumed = false;           // the run continues an earlier one,
  std::vector<task_id> restored;  // which left these results; in ascending order
  unsigned send_after_ticks = 0;  // see farm_member_config
  bool holds_back = false;        // the root sometimes keeps the remaining tasks for itself
  double audit = 0;               // see farm_root_config
  bool audit_holds = false;       // likewise
  std::optional<int> liar;        // this rank's results of one task in `lies_in` are wrong
  std::uint64_t lies_in = 1;
  bool timed = false;                // the root has a clock: a millisecond per event
  bool steered = false;              // ranks ask for idle threads only, and tasks are cancelled
  std::uint64_t heavy_every = 0;     // one task in this many is heavy; a rank runs one of them at a time
  std::optional<int> small_rank;     // this rank has no room for a heavy task
  std::optional<task_id> late_from;  // heavy tasks from here on cannot end in time

  /// True if nothing makes a task run twice.
  [[nodiscard]] bool calm_but_for_the_liar() const {
    return deaths == 0 && suspicions == 0 && lost_in == 0 && poison.empty();
  }
  [[nodiscard]] bool calm() const { return calm_but_for_the_liar() && !liar; }
  [[nodiscard]] std::size_t servers() const { return root_serves && ranks > 1 ? 1 : 0; }
  [[nodiscard]] std::size_t computing() const { return static_cast<std::size_t>(ranks) - servers(); }
  [[nodiscard]] std::string describe() const;
};

struct packet {
  role::farm_message what;
  std::vector<task_id> content;  // tasks whose results or payloads travel along
  void add_to(role::digest& d) const;
  friend bool operator==(packet const&, packet const&) = default;
};

using thread = std::optional<task_range>;  // what it runs

struct node : harness_common::peer_node {
  role::farm_member member;
  std::vector<thread> threads{};
  std::vector<task_id> held{};  // finished, results not sent
  std::vector<task_id> payloads{};
  bool rested = false;  // a thread has asked for work since the last change
  void add_to(role::digest& d) const;
  friend bool operator==(node const&, node const&) = default;
};

struct task_record {
  std::uint8_t recorded = 0, left_out = 0;  // times
  bool forgotten = false;
  bool wrong = false;             // the sink is to receive a wrong result
  std::uint8_t ran_at_death = 0;  // ranks that died while they ran it
  friend bool operator==(task_record const&, task_record const&) = default;
};

class world final : public harness_common::peer_world<scenario, node, packet, role::farm_actions> {
 public:
  struct fault : peer_world::fault {
    /// The number of results that the root believes the sink has received.
    virtual std::uint64_t sunk(std::uint64_t count) { return count; }
  };
  explicit world(scenario const& s, fault* f = nullptr);
  void check_end() const;
  [[nodiscard]] std::uint64_t again() const { return root_role_.book().counts.again; }
  /// Whether a task was blamed for the loss of ranks that ran it.
  [[nodiscard]] bool blamed() const;
  friend bool operator==(world const&, world const&) = default;

 private:
  void begin(int rank) override;
  void receive(int from, int to, packet& p) override;
  void hear_lost(int rank, int peer) override;
  void hear_tick(int rank) override;
  void please_stop(int rank) override;
  void send(int rank, int to, role::farm_message const& what) override;
  void follow_up(int rank) override;
  void count() override { roll_.count(root_role_.book().tasks.sunk(), root_role_.book().counts.again); }
  void stop() override { root_role_.stop(); }
  void add_own(int rank, std::vector<event>& all) const override;
  void apply_own(event const& e) override;
  [[nodiscard]] std::uint64_t most_events() const override;
  [[nodiscard]] int most_rounds() const override { return 400; }
  [[nodiscard]] std::string waits_for() const override;
  // The root announces lost ranks to the others, which hear of it late.
  [[nodiscard]] bool watches(int rank) const override { return rank == 0; }
  [[nodiscard]] bool may_die(int rank) const override { return !at(rank).ended; }
  void dies(int rank) override;
  [[nodiscard]] bool rare(event const& e) const override;
  void check() const override;
  void check_done() const override;
  void check_stopped_early() const override {
    if (late_ && !scenario_->stops_early) check_done();
  }
  [[nodiscard]] bool may_fail() const override { return root_poisoned_; }
  [[nodiscard]] bool may_blame(role::outcome const& how) const override;
  [[nodiscard]] bool may_end_so(role::outcome const& how) const override;
  void add_to(role::digest& d) const override;

  // --- the work of the engine
  /// `free`: the thread of this rank that takes what its member hands out.
  void perform(int rank, bool from_root, role::farm_actions& list, thread* free = nullptr);
  void perform(int rank, role::farm_action const& action, thread* free);
  template <class Event, class... Arguments>
  void tell_root_role(Event const& what, Arguments&&... arguments) {
    if (scenario_->timed) root_role_.at(seconds_ += 1e-3);
    role::farm_actions list;
    std::invoke(what, root_role_, std::forward<Arguments>(arguments)..., list);
    perform(0, true, list);
  }
  template <class Event, class... Arguments>
  void tell_member(int rank, thread* free, Event const& what, Arguments&&... arguments) {
    role::farm_actions list;
    at(rank).rested = false;
    std::invoke(what, at(rank).member, std::forward<Arguments>(arguments)..., list);
    perform(rank, false, list, free);
  }
  void deliver_own();
  void hear(int from, packet const& p);
  void take_results(int from, packet const& p, bool was_stopping);
  void release();
  void discard(int rank);
  void leave_out(farm::leave_out const& l);
  void use_payload(int rank, task_id id);

  // --- tasks, the source and the sink
  void run(int rank, thread& on, task_range const& range);
  void finish(int rank, thread& on);
  void admit(int rank, thread& on);
  [[nodiscard]] bool heavy(task_id id) const {
    return scenario_->heavy_every > 0 && id % scenario_->heavy_every == 0;
  }
  void take_poison(int rank, task_id id);
  void supply();
  void sink();
  void cancel(task_id id);
  [[nodiscard]] bool wants_work(int rank) const;
  [[nodiscard]] bool fails(task_id id, int rank) const;
  [[nodiscard]] bool is_poison(task_id id) const;
  [[nodiscard]] std::uint64_t version(task_id id, int rank) const {
    return scenario_->liar == rank && id % scenario_->lies_in == 0 ? 1 : 0;
  }

  // --- invariants
  void check_given(packet const& p) const;
  void check_none_works() const;
  void check_blame(role::outcome const& how) const;
  void check_audits() const;
  [[nodiscard]] bool may_be_unsettled() const;
  [[nodiscard]] bool survives_a_bad_rank(role::outcome const& how) const;

  role::farm_root root_role_;
  fault* faults_ = nullptr;
  std::vector<task_record> tasks_;
  std::uint64_t supplied_ = 0;
  bool source_ended_ = false, source_failed_ = false;
  result_sink sink_;
  std::vector<std::vector<task_id>> waiting_;  // with audits: per rank, results that wait for the sink
  double seconds_ = 0;
  bool root_poisoned_ = false;
  bool late_ = false;          // a task was left out because it could not end in time
  bool was_stopping_ = false;  // before the event

  // --- the results message that the root receives
  bool recording_ = false;
  int sender_ = 0;
  range_list accepted_;
  std::vector<int> released_;
};

using fault = world::fault;

[[nodiscard]] std::vector<task_id> ids_of(range_list const& ranges);

/// Draws a scenario of any kind that the protocol promises to survive.
[[nodiscard]] scenario random_scenario(std::uint64_t seed);
/// A scenario with at least one death.
[[nodiscard]] scenario death_scenario(std::uint64_t seed);
/// One that continues an earlier run; ranks may die.
[[nodiscard]] scenario resumed_scenario(std::uint64_t seed);
/// One whose failed tasks run again or are left out.
[[nodiscard]] scenario failing_scenario(std::uint64_t seed);
/// One with tasks that kill any rank that runs them.
[[nodiscard]] scenario poison_scenario(std::uint64_t seed);
/// One whose ranks die for other reasons while tasks may be blamed.
[[nodiscard]] scenario blaming_scenario(std::uint64_t seed);
/// One that audits its results; a rank may lie.
[[nodiscard]] scenario audited_scenario(std::uint64_t seed);
/// One of a steered source.
[[nodiscard]] scenario steered_scenario(std::uint64_t seed);
/// One with tasks that a rank does not run together, or not at all.
[[nodiscard]] scenario crowded_scenario(std::uint64_t seed);
/// A ring of 64 ranks; some may die.
[[nodiscard]] scenario wide_ring_scenario(std::uint64_t seed);
/// Runs the scenario. Throws `violation` with the seed that replays it.
summary run(scenario const& s, fault* f = nullptr);

}  // namespace farm_harness
