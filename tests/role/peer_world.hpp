// Ranks that are peers (peer_message, and a roll call in the end) without wires, clock and threads: events in
// any order, deaths, suspicions. A protocol's world adds its roles, what they want done, and what must hold
// of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "harness_common.hpp"
#include "peer_scenario.hpp"
#include "role/codec.hpp"
#include "role/digest.hpp"
#include "role/roll_call.hpp"
#include "skel/bytes.hpp"

namespace harness_common {

namespace role = skel::role;

inline constexpr std::uint64_t peer_call_hash = 42;

/// What every rank has beside its roles.
struct peer_node {
  bool begun = false, alive = true, ended = false, draining = false;
  std::string failure{};
  std::optional<role::outcome> how{};
};

inline role::peer_message through_codec(role::peer_message const& m) {
  std::vector<std::byte> bytes;
  role::encode(m, bytes);
  std::span<std::byte const> rest(bytes);
  auto read = role::decode_peer_message(rest);
  require(read == m && rest.empty(), std::string("not read as written: ") + to_string(m.kind));
  return read;
}
template <role::skeleton_message Message>
Message through_codec(Message const& m) {
  std::vector<std::byte> bytes;
  role::encode(m, bytes);
  std::span<std::byte const> rest(bytes);
  auto read = role::decode<Message>(rest);
  require(read == m && rest.empty(), "not read as written: alternative " + std::to_string(m.index()));
  return read;
}

// Kinds of messages, to count them.
inline std::size_t kind_of(role::peer_message const& m) { return static_cast<std::size_t>(m.kind); }
template <role::skeleton_message Message>
std::size_t kind_of(Message const& m) {
  auto const* const call = std::get_if<role::call_message>(&m);
  return call != nullptr ? call->index() : m.index() + 100;
}
// What tells messages apart.
inline void add_message(role::digest& d, role::peer_message const& m) {
  d.add(static_cast<std::uint64_t>(m.kind)).add(m.number);
  for (auto const id : m.ids) d.add(id);
}
template <role::skeleton_message Message>
void add_message(role::digest& d, Message const& m) {
  std::vector<std::byte> bytes;
  role::encode(m, bytes);
  for (auto const b : bytes) d.add(static_cast<std::uint64_t>(b));
}
inline role::peer_message message_from(role::call_message const& m, role::peer_message const*) {
  return role::to_peer(m);
}
template <role::skeleton_message Message>
Message message_from(role::call_message const& m, Message const*) {
  return m;
}

/// `Scenario` is a peer_scenario. `Node` is a peer_node with the roles of a rank, `Packet` a message `what`
/// with its payload; both have `void add_to(digest&) const`, for what they add. Copied by explorations.
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
  /// Everything that can go on, for exploration; `ticks`: while so many have not happened.
  [[nodiscard]] std::vector<event> possible(std::uint64_t ticks) const;
  /// One random event. False: none is possible.
  bool step(std::mt19937_64& dice);
  /// No more trouble: the run must end.
  void settle(std::mt19937_64& dice);
  [[nodiscard]] bool ended() const {
    return std::all_of(nodes_.begin(), nodes_.end(), [](Node const& n) { return n.ended || !n.alive; });
  }
  void check_end() const;
  [[nodiscard]] int deaths() const { return deaths_; }
  [[nodiscard]] bool died_at_work() const { return died_at_work_; }
  [[nodiscard]] std::uint64_t messages(role::peer_message_kind what) const {
    auto const at = messages_.find(static_cast<std::size_t>(what));
    return at == messages_.end() ? 0 : at->second;
  }
  /// Messages of this kind that were sent.
  template <class Own>
  [[nodiscard]] std::uint64_t messages_of() const {
    auto const at = messages_.find(kind_of(message(Own{})));
    return at == messages_.end() ? 0 : at->second;
  }
  [[nodiscard]] std::uint64_t messages() const {
    return std::accumulate(messages_.begin(), messages_.end(), std::uint64_t{0},
                           [](std::uint64_t n, auto const& m) { return n + m.second; });
  }
  [[nodiscard]] std::uint64_t hash() const;

 protected:
  peer_world(Scenario const& s, fault* f);

  // --- what a world adds ---
  /// The roles of a rank begin; it is marked already.
  virtual void begin(int rank) = 0;
  /// A message arrives at a rank that has not ended; on the root call_roll() comes first.
  virtual void receive(int from, int to, Packet& p) = 0;
  virtual void hear_lost(int rank, int peer) = 0;
  virtual void hear_tick(int rank) = 0;
  virtual void please_stop(int rank) = 0;
  /// Attaches what travels with a message, and posts it.
  virtual void send(int rank, int to, message const& what) = 0;
  /// What the engine does at once after an event.
  virtual void follow_up(int rank) = 0;
  /// Its own kinds of events: of an active rank, and when they happen.
  virtual void add_own(int rank, std::vector<event>& all) const = 0;
  virtual void apply_own(event const& e) = 0;
  /// Most events between two ticks of a run without trouble.
  [[nodiscard]] virtual std::uint64_t most_events() const = 0;
  [[nodiscard]] virtual std::string waits_for() const = 0;
  /// What must hold after each event, and of a run that is done.
  virtual void check() const {}
  virtual void check_done() const = 0;
  /// Whether the root may fail for a reason that is the world's own.
  [[nodiscard]] virtual bool may_fail() const { return false; }
  /// Whether a task may be blamed for losses.
  [[nodiscard]] virtual bool may_blame() const { return false; }
  /// What `part_lost` may follow from.
  [[nodiscard]] virtual bool may_lose_parts() const { return false; }
  virtual void add_to(role::digest&) const {}

  // --- what a world uses ---
  /// A job begins; what was before it is gone.
  void start_job(Scenario const& s);
  [[nodiscard]] Node& at(int rank) { return nodes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Node const& at(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::size_t wire(int from, int to) const {
    return static_cast<std::size_t>(from * scenario_->ranks + to);
  }
  [[nodiscard]] bool active(int rank) const { return at(rank).begun && at(rank).alive && !at(rank).ended; }
  /// What this rank takes for the call's hash.
  [[nodiscard]] std::uint64_t call_hash(int rank) const {
    return scenario_->other_call == rank ? peer_call_hash + 1 : peer_call_hash;
  }
  /// A step of the root's roll call, and what it says: `call_roll(&role::roll_call::done, 1)`.
  template <class... Parameters, class... Arguments>
  void call_roll(void (role::roll_call::*what)(Parameters...), Arguments&&... arguments) {
    role::call_messages told;
    (roll_.*what)(std::forward<Arguments>(arguments)..., told);
    for (auto const& m : told) send(0, m.to, message_from(m.what, static_cast<message*>(nullptr)));
  }
  [[nodiscard]] Packet packet_of(message const& what) {
    ++messages_[kind_of(what)];
    Packet p{};
    p.what = through_codec(what);
    return p;
  }
  void post(int rank, int to, Packet p) {
    if (at(to).alive || to == rank) wires_[wire(rank, to)].push_back(std::move(p));
  }
  /// Counts a job; whether it throws.
  [[nodiscard]] bool job_fails() {
    if (scenario_->failing != static_cast<int>(jobs_++)) return false;
    return failed_ = true;
  }
  /// Does what the roles of all skeletons want. False: it is an action of the skeleton's own.
  template <class Variant>
  bool performs(int rank, Variant const& action) {
    if (auto const* t = std::get_if<role::tell_root>(&action)) {
      send(rank, 0, message_from(t->what, static_cast<message*>(nullptr)));
      return true;
    }
    return ends(at(rank), action);
  }
  /// Whether the action is that the rank ends.
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
  std::vector<std::vector<Packet>> wires_;
  std::vector<bool> lost_;  // wire(a, b): a takes b for lost
  int deaths_ = 0, suspicions_ = 0;
  std::uint64_t ticks_ = 0;
  bool complete_ = false;

 private:
  [[nodiscard]] bool deliverable(int from, int to) const {
    // What waits for a suspect is sent when the suspect is heard again.
    return !wires_[wire(from, to)].empty() && at(to).begun && at(to).alive &&
           !(at(from).alive && lost_[wire(from, to)]);
  }
  void deliver(int from, int to);
  void die(int rank, std::uint64_t last_words);
  void lose(int rank, int peer);
  void tick(int rank);
  void notice_all();

  std::map<std::size_t, std::uint64_t> messages_;
  std::uint64_t jobs_ = 0;
  bool failed_ = false, asked_to_stop_ = false, died_at_work_ = false;
};

/// Every order of events, to the end, each state once; `ticks` events of time at most.
template <class World>
exploration explore(World first, std::uint64_t ticks, std::uint64_t most_states) {
  std::unordered_set<std::uint64_t> seen;
  return explore<World, peer_event>(
      std::move(first), [ticks](World const& w) { return w.possible(ticks); },
      [&seen](World const& w) { return seen.insert(w.hash()).second; }, most_states,
      [](peer_event const& e) { return e.describe(); });
}

}  // namespace harness_common

#include "peer_world_events.hpp"
