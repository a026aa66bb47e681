// A simulated world of peer ranks that end with a roll call, without transport, clock or threads. Events come
// in any order, including deaths and suspicions. A protocol's world adds its roles, actions and invariants.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "harness_common.hpp"
#include "peer_scenario.hpp"
#include "protocol/codec.hpp"
#include "protocol/digest.hpp"
#include "protocol/roll_call.hpp"
#include "skel/bytes.hpp"

namespace harness_common {

namespace role = skel::role;

inline constexpr std::uint64_t peer_call_hash = 42;

/// The state of a rank apart from its roles.
struct peer_node {
  bool begun = false, alive = true, ended = false, draining = false;
  std::string failure{};
  std::optional<role::outcome> how{};
  friend bool operator==(peer_node const&, peer_node const&) = default;
};

/// How a run came to its state. No part of the state: all compare equal.
struct peer_history {
  std::map<std::size_t, std::uint64_t> messages{};  // sent, by kind
  bool died_at_work = false;
  friend bool operator==(peer_history const&, peer_history const&) { return true; }
};

template <role::skeleton_message Message>
Message through_codec(Message const& m) {
  std::vector<std::byte> bytes;
  role::encode(m, bytes);
  std::span<std::byte const> rest(bytes);
  auto read = role::decode<Message>(rest);
  require(read == m && rest.empty(),
          "decoding differs from encoding: alternative " + std::to_string(m.index()));
  return read;
}

// Returns the kind of a message, for counting.
template <role::skeleton_message Message>
std::size_t kind_of(Message const& m) {
  auto const* const call = std::get_if<role::call_message>(&m);
  return call != nullptr ? call->index() : m.index() + 100;
}

/// `Scenario` derives from peer_scenario, `Node` from peer_node, with the roles of a rank. `Packet` is a
/// message `what` with its payload. `Node` and `Packet` have `void add_to(digest&) const` for their own
/// members. Explorations copy the world.
template <class Scenario, class Node, class Packet, class Actions>
class peer_world {
 public:
  using event = peer_event;
  using kind = event::kind;
  using message = decltype(Packet::what);
  using fault = harness_common::fault<peer_world, event, Actions, message>;

  peer_world(peer_world const&) = default;
  peer_world(peer_world&&) noexcept = default;
  peer_world& operator=(peer_world const&) = default;
  peer_world& operator=(peer_world&&) noexcept = default;
  virtual ~peer_world() = default;

  void apply(event const& e);
  /// Returns all events that can happen next; ticks only until `ticks` of them have happened.
  [[nodiscard]] std::vector<event> possible(std::uint64_t ticks) const;
  /// Applies one random event. Returns false if none is possible.
  bool step(std::mt19937_64& dice);
  /// Brings the run to its end without further failures.
  void settle(std::mt19937_64& dice);
  [[nodiscard]] bool ended() const {
    return std::all_of(nodes_.begin(), nodes_.end(), [](Node const& n) { return n.ended || !n.alive; });
  }
  void check_end() const;
  [[nodiscard]] int deaths() const { return deaths_; }
  [[nodiscard]] bool died_at_work() const { return history_.died_at_work; }
  /// Returns the number of messages of this kind sent so far.
  template <class Own>
  [[nodiscard]] std::uint64_t messages_of() const {
    auto const at = history_.messages.find(kind_of(message(Own{})));
    return at == history_.messages.end() ? 0 : at->second;
  }
  [[nodiscard]] std::uint64_t messages() const {
    return std::accumulate(history_.messages.begin(), history_.messages.end(), std::uint64_t{0},
                           [](std::uint64_t n, auto const& m) { return n + m.second; });
  }
  [[nodiscard]] std::uint64_t hash() const;
  friend bool operator==(peer_world const&, peer_world const&) = default;

 protected:
  peer_world(Scenario const& s, fault* f);

  // --- implemented by a protocol's world ---
  /// Starts the roles of a rank that is already marked as begun.
  virtual void begin(int rank) = 0;
  /// Handles a message at a rank that has not ended; on the root call_roll() comes first.
  virtual void receive(int from, int to, Packet& p) = 0;
  virtual void hear_lost(int rank, int peer) = 0;
  virtual void hear_tick(int rank) = 0;
  virtual void please_stop(int rank) = 0;
  /// The rank dies now; its state is still there.
  virtual void dies(int /*rank*/) {}
  /// Attaches the payload to a message and posts it.
  virtual void send(int rank, int to, message const& what) = 0;
  /// Does what the engine does immediately after an event.
  virtual void follow_up(int rank) = 0;
  /// The world's own kinds of events: those possible on an active rank, and their effect.
  virtual void add_own(int rank, std::vector<event>& all) const = 0;
  virtual void apply_own(event const& e) = 0;
  /// Upper bound on events between two ticks of a run without failures.
  [[nodiscard]] virtual std::uint64_t most_events() const = 0;
  /// The run must end within this many ticks.
  [[nodiscard]] virtual int most_rounds() const { return 40; }
  [[nodiscard]] virtual std::string waits_for() const = 0;
  /// Whether this rank learns by itself of the loss of others.
  [[nodiscard]] virtual bool watches(int rank) const { return active(rank); }
  [[nodiscard]] virtual bool may_die(int /*rank*/) const { return !complete_; }
  /// Whether a random run chooses the event less often than others.
  [[nodiscard]] virtual bool rare(event const& e) const;
  /// Invariants after each event and after a completed run.
  virtual void check() const {}
  virtual void check_done() const = 0;
  virtual void check_stopped_early() const {}
  /// Whether the root may fail for a reason specific to this world.
  [[nodiscard]] virtual bool may_fail() const { return false; }
  /// Whether a task may have failed because work is blamed for losses.
  [[nodiscard]] virtual bool may_blame(role::outcome const&) const { return false; }
  /// Whether the outcome may be `part_lost`.
  [[nodiscard]] virtual bool may_lose_parts() const { return false; }
  /// Whether this world may end in one of the ways that most worlds do not have.
  [[nodiscard]] virtual bool may_end_so(role::outcome const&) const { return false; }
  /// Before each step of the roll call, and after those that end the run: for root roles with stop().
  virtual void count() {}
  virtual void stop() {}
  virtual void add_to(role::digest&) const {}

  // --- used by a protocol's world ---
  [[nodiscard]] bool deliverable(int from, int to) const {
    // Messages to a suspect are held back until the suspect is heard again.
    return at(to).begun && at(to).alive && !(at(from).alive && lost_[wire(from, to)]) &&
           wires_.contains(wire(from, to));
  }
  void deliver(int from, int to);
  /// The messages from one rank to another that have not arrived, oldest first.
  [[nodiscard]] std::span<Packet const> under_way(int from, int to) const {
    auto const w = wires_.find(wire(from, to));
    return w == wires_.end() ? std::span<Packet const>() : std::span<Packet const>(w->second);
  }
  /// Kills a rank; `last_words` of its messages to each rank still arrive.
  void die(int rank, std::uint64_t last_words);
  /// The rank has retired: its end is no fault.
  void leave(int rank) {
    die(rank, ~0ULL);
    --deaths_;
  }
  /// Whether a rank that has retired may end: the root has heard all that it said.
  [[nodiscard]] bool root_heard_all(int rank) const {
    return under_way(rank, 0).empty() && !lost_[wire(0, rank)];
  }
  /// Starts a new job and discards the previous one.
  void start_job(Scenario const& s);
  [[nodiscard]] Node& at(int rank) { return nodes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Node const& at(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::size_t wire(int from, int to) const {
    return static_cast<std::size_t>(from * scenario_->ranks + to);
  }
  [[nodiscard]] bool active(int rank) const { return at(rank).begun && at(rank).alive && !at(rank).ended; }
  /// Returns the call hash this rank uses.
  [[nodiscard]] std::uint64_t call_hash(int rank) const {
    return scenario_->other_call == rank ? peer_call_hash + 1 : peer_call_hash;
  }
  /// Calls a function of the root's roll call and sends its messages: `call_roll(&role::roll_call::lost, 1)`.
  template <class Step, class... Arguments>
  void call_roll(Step what, Arguments&&... arguments) {
    role::call_messages told;
    count();
    std::invoke(what, roll_, std::forward<Arguments>(arguments)..., told);
    if (roll_.stopping() || roll_.finished()) stop();
    for (auto const& m : told) send(0, m.to, message(m.what));
  }
  [[nodiscard]] Packet packet_of(message const& what) {
    ++history_.messages[kind_of(what)];
    Packet p{};
    p.what = through_codec(what);
    return p;
  }
  void post(int rank, int to, Packet p) {
    auto const in = scenario_->lost_in;
    bool const arrives = to == rank || (at(to).alive && (in == 0 || below(in) > 0));
    if (arrives) wires_[wire(rank, to)].push_back(std::move(p));
  }
  /// Draws a detail of an event. Not for explorations, which try all of them.
  [[nodiscard]] std::uint64_t below(std::uint64_t n) {
    role::digest d;
    return d.add(scenario_->seed).add(++coins_).value() % n;
  }
  /// Counts a job. Returns whether it throws.
  [[nodiscard]] bool job_fails() {
    if (scenario_->failing != static_cast<int>(jobs_++)) return false;
    return failed_ = true;
  }
  /// Performs an action common to all skeletons. Returns false if the action is specific to one skeleton.
  template <class Variant>
  bool performs(int rank, Variant const& action) {
    if (auto const* t = std::get_if<role::tell_root>(&action)) {
      send(rank, 0, message(t->what));
      return true;
    }
    return ends(at(rank), action);
  }
  /// Ends the rank if the action says so. Returns whether it did.
  template <class Variant>
  bool ends(Node& n, Variant const& action) {
    if (auto const* e = std::get_if<role::end>(&action)) {
      require(!n.ended, "a rank ends twice");
      n.how = e->how;
    } else if (auto const* failure = std::get_if<role::fail>(&action)) {
      n.failure = failure->why == role::fail::reason::lost_root ? "lost root" : failure->text;
    } else {
      return false;
    }
    return n.ended = true;
  }

  std::shared_ptr<Scenario const> scenario_;
  fault* fault_ = nullptr;
  std::vector<Node> nodes_;
  role::roll_call roll_;
  std::map<std::size_t, std::vector<Packet>> wires_;  // by wire(from, to); no entry is empty
  std::vector<bool> lost_;                            // wire(a, b): a has declared b lost
  int deaths_ = 0, suspicions_ = 0;
  std::uint64_t ticks_ = 0;
  bool complete_ = false, failed_ = false, asked_to_stop_ = false;

 private:
  void lose(int rank, int peer);
  void tick(int rank);
  void notice_all();

  peer_history history_;
  std::uint64_t jobs_ = 0, coins_ = 0;
};

/// Runs every order of events to the end, visiting each state once, with at most `ticks` ticks. States are
/// known by their hashes; with `exact`, they are kept and compared.
template <bool exact = false, class World>
exploration explore(World first, std::uint64_t ticks, std::uint64_t most_states) {
  std::unordered_set<std::uint64_t> hashes;
  std::unordered_multimap<std::uint64_t, World> worlds;
  auto const is_new = [&](World const& w) {
    if constexpr (exact) {
      auto const [from, to] = worlds.equal_range(w.hash());
      if (std::any_of(from, to, [&](auto const& known) { return known.second == w; })) return false;
      worlds.emplace(w.hash(), w);
      return true;
    } else {
      return hashes.insert(w.hash()).second;
    }
  };
  return explore<World, peer_event>(
      std::move(first), [ticks](World const& w) { return w.possible(ticks); }, is_new, most_states,
      [](peer_event const& e) { return e.describe(); });
}

}  // namespace harness_common

#include "peer_world_events.hpp"
