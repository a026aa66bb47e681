// Divide-and-conquer's roles without wires, clock and threads: events in any order, deaths, suspicions. A
// solution is the text of the tree that it was combined from, so a test sees whether each part is in it once
// and in its place.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "harness_common.hpp"
#include "skel/protocol/partner.hpp"
#include "skel/protocol/roll_call.hpp"

namespace partner_harness {

namespace protocol = skel::protocol;
using protocol::problem_place;
using protocol::rank_span;
using protocol::solution_place;

using harness_common::exploration;
using harness_common::require;
using harness_common::summary;
using harness_common::violation;

struct scenario {
  std::uint64_t seed = 1;
  int ranks = 2;
  problem_place from = problem_place::root;
  solution_place to = solution_place::everywhere;
  int items = 8;    // the problem: the numbers 0 ... items - 1
  int trivial = 1;  // problems of so many items cannot be divided
  int deaths = 0;
  int suspicions = 0;
  std::optional<int> failing;  // the call of this number, over all ranks, throws
  bool stops_early = false;
  std::optional<int> other_call;  // a rank that makes another call
  std::uint64_t chaos = 300;      // random events before everything is allowed to come to an end
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] bool may_lose_parts() const {
    return from == problem_place::parts || to == solution_place::parts;
  }
};

struct event {
  enum class kind : std::uint8_t {
    begin,      // rank a enters the call
    deliver,    // the oldest message from a to b
    finish,     // rank a has done its job number b
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

using fault = harness_common::fault<world, event, protocol::part_actions, protocol::peer_message>;

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
  /// Groups whose solution another rank has made.
  [[nodiscard]] std::uint64_t again() const;
  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  [[nodiscard]] std::uint64_t hash() const;

 private:
  using items = std::pair<int, int>;
  struct packet {
    protocol::peer_message what;
    items problem{};
    std::string solution;
  };
  struct job {
    enum class kind : std::uint8_t { divide, solve, combine } what = kind::divide;
    rank_span group;
    items problem{};
    std::string left{}, right{};
  };
  struct node {
    protocol::partner role;
    std::map<rank_span, items> problems;
    std::map<rank_span, std::string> solutions;
    std::vector<job> jobs;
    std::uint64_t calls = 0;
    bool begun = false, alive = true, ended = false, draining = false;
    std::string failure;
    std::optional<protocol::outcome> how;
    std::string result;
  };

  [[nodiscard]] node& at(int rank) { return nodes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] node const& at(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::size_t wire(int from, int to) const {
    return static_cast<std::size_t>(from * scenario_->ranks + to);
  }
  [[nodiscard]] bool active(int rank) const { return at(rank).begun && at(rank).alive && !at(rank).ended; }
  [[nodiscard]] bool deliverable(int from, int to) const;
  [[nodiscard]] bool atomic(items p) const { return p.second - p.first <= scenario_->trivial; }
  [[nodiscard]] std::string expected(rank_span s, items p) const;
  [[nodiscard]] std::string expected_parts(rank_span s, items p) const;
  void begin(int rank);
  void deliver(int from, int to);
  void finish(int rank, int which);
  void die(int rank, std::uint64_t last_words);
  void lose(int rank, int peer);
  void tick(int rank);
  void perform(int rank, protocol::part_actions& list, items problem = {}, std::string const& solution = {});
  void send(int rank, int to, protocol::peer_message const& what);
  void send_all(protocol::peer_messages& list);
  void follow_up(int rank);

  std::shared_ptr<scenario const> scenario_;
  fault* fault_ = nullptr;
  std::vector<node> nodes_;
  protocol::roll_call roll_;
  std::vector<std::vector<packet>> wires_;
  std::vector<bool> lost_;  // wire(a, b): a takes b for lost
  int deaths_ = 0, suspicions_ = 0;
  std::uint64_t ticks_ = 0, messages_ = 0, calls_ = 0;
  bool complete_ = false, failed_ = false, asked_to_stop_ = false, died_at_work_ = false;
};

[[nodiscard]] scenario random_scenario(std::uint64_t seed);
/// At least one death.
[[nodiscard]] scenario death_scenario(std::uint64_t seed);
/// Throws violation with the seed that replays it.
summary run(scenario const& s, fault* f = nullptr);

/// Every order of events, to the end, each state once; `ticks` events of time at most.
[[nodiscard]] exploration explore(scenario const& s, std::uint64_t ticks, std::uint64_t most_states);

}  // namespace partner_harness
