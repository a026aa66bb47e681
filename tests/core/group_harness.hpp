// multi_host's roles without wires, clock and threads: events in any order, deaths, suspicions. A test sees
// whether every piece of every unit reaches the sink once, with the right result, and whether ranks are
// forgotten.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "harness_common.hpp"
#include "skel/protocol/arbiter.hpp"
#include "skel/protocol/group_host.hpp"
#include "skel/protocol/group_slave.hpp"
#include "skel/protocol/roll_call.hpp"

namespace group_harness {

namespace protocol = skel::protocol;
using protocol::piece_run;
using protocol::term_id;

using harness_common::exploration;
using harness_common::require;
using harness_common::summary;
using harness_common::violation;

/// What is cut for a piece, and what processing makes of it.
constexpr std::uint64_t cut_of(std::uint64_t unit, std::uint64_t piece) { return unit * 1000 + piece; }
constexpr std::uint64_t result_of(std::uint64_t cut) { return cut * 7 + 3; }

struct scenario {
  std::uint64_t seed = 1;
  int ranks = 2;
  std::uint64_t units = 3;
  std::uint64_t most_pieces = 3;  // of a unit; some have fewer, or none
  unsigned group_size = 2;        // 0: found on the way
  unsigned threads = 1;
  unsigned read_ahead = 1;
  unsigned buffers = 0;
  std::uint64_t least_pieces = 1;
  bool shrinking = true;
  std::optional<std::uint64_t> threshold = 1;
  std::uint64_t results_level = 0;
  std::uint64_t left_alone = protocol::default_left_alone;
  bool reassigns = true, hosts_help = true, preloads = false, uneven = false, slow_delivery = false;
  int deaths = 0;
  int suspicions = 0;
  std::optional<int> failing;  // the job of this number, over all ranks, throws
  bool stops_early = false;
  std::optional<int> other_call;  // a rank that makes another call
  std::uint64_t chaos = 300;      // random events before everything is allowed to come to an end
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] std::uint64_t pieces(std::uint64_t unit) const;
};

struct event {
  enum class kind : std::uint8_t {
    begin,      // rank a enters the call
    deliver,    // the oldest message from a to b
    finish,     // rank a has done its job number b
    ready,      // the unit that rank a reads has one piece more
    measure,    // the root knows what units cost: groups of n
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

using fault = harness_common::fault<world, event, protocol::group_actions, protocol::peer_message>;

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
  /// Pieces taken back, and shares taken over.
  [[nodiscard]] std::uint64_t again() const { return again_; }
  [[nodiscard]] std::uint64_t reassigned() const { return arbiter_.reassigned(); }
  /// Units that were read, those read twice included.
  [[nodiscard]] std::uint64_t reads() const { return reads_; }
  [[nodiscard]] std::map<protocol::peer_message_kind, std::uint64_t> const& messages() const {
    return messages_;
  }
  [[nodiscard]] std::uint64_t hash() const;

 private:
  using results = std::vector<std::uint64_t>;
  struct packet {
    protocol::peer_message what;
    results cargo;  // pieces as they were cut, or results
  };
  struct job {
    enum class kind : std::uint8_t { read, process, take } what = kind::read;
    term_id term = 0;
    protocol::packet_id id = 0;
    piece_run pieces{};
    bool fresh = false;
    std::uint64_t ready = 0;
  };
  struct node {
    protocol::group_slave slave;
    protocol::group_host host;
    std::vector<job> waiting, running;
    // of the share it leads
    std::map<std::uint64_t, std::uint64_t> units;  // pieces that are there
    std::map<std::uint64_t, std::vector<std::optional<std::uint64_t>>> kept;
    std::optional<std::uint64_t> carried;  // the unit read last
    std::uint64_t share_end = 0;           // as it was told
    // of the slave
    std::map<protocol::packet_id, std::pair<term_id, std::vector<std::uint64_t>>> packets;
    std::map<protocol::packet_id, std::uint64_t> first_of;
    // By term, unit and piece; twice where a host took this rank for lost and gave the same again.
    std::multimap<std::array<std::uint64_t, 3>, std::uint64_t> done;
    bool begun = false, alive = true, ended = false, draining = false;
    std::string failure;
    std::optional<protocol::outcome> how;
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
  void finish(int rank, int which);
  void die(int rank, std::uint64_t last_words);
  void lose(int rank, int peer);
  void tick(int rank);
  void perform(int rank, protocol::group_actions& list, results const& cargo = {});
  void perform_one(int rank, protocol::group_action_variant const& action, results const& cargo,
                   std::size_t& used);
  void perform_for_host(int rank, protocol::group_action_variant const& action, results const& cargo,
                        std::size_t& used);
  void send(int rank, int to, protocol::peer_message const& what);
  void attach(int rank, packet& p);
  void send_all(protocol::peer_messages& list);
  void follow_up(int rank);
  void record(std::uint64_t unit, results const& cargo);
  void check_book() const;
  void check_no_orphan() const;

  std::shared_ptr<scenario const> scenario_;
  fault* fault_ = nullptr;
  std::vector<node> nodes_;
  protocol::arbiter arbiter_;
  protocol::roll_call roll_;
  std::vector<std::vector<packet>> wires_;
  std::vector<bool> lost_;  // wire(a, b): a takes b for lost
  std::map<std::uint64_t, results> sunk_;
  std::map<protocol::peer_message_kind, std::uint64_t> messages_;
  int deaths_ = 0, suspicions_ = 0;
  std::uint64_t ticks_ = 0, jobs_ = 0, reads_ = 0, again_ = 0;
  bool complete_ = false, failed_ = false, asked_to_stop_ = false, died_at_work_ = false, started_ = false;
};

[[nodiscard]] scenario random_scenario(std::uint64_t seed);
/// At least one death.
[[nodiscard]] scenario death_scenario(std::uint64_t seed);
/// Throws violation with the seed that replays it.
summary run(scenario const& s, fault* f = nullptr);

/// Every order of events, to the end, each state once; `ticks` events of time at most.
[[nodiscard]] exploration explore(scenario const& s, std::uint64_t ticks, std::uint64_t most_states);

}  // namespace group_harness
