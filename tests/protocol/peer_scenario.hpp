// Scenarios and events of a simulated call whose ranks are peers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>

namespace harness_common {

struct peer_scenario {
  std::uint64_t seed = 1;
  int ranks = 2;
  int deaths = 0;
  int suspicions = 0;
  std::optional<int> failing;  // what throws; by default the job with this number, counted over all ranks
  bool stops_early = false;
  std::optional<int> other_call;  // a rank that makes a different call
  std::uint64_t chaos = 300;      // random events before the run is brought to its end
  unsigned lost_in = 0;           // one message in this many between living ranks is lost; 0: none
  bool ticks = true;              // false: the run must end without ticks
  /// Exhaustive exploration: time passes when nothing else can happen, so that every run reaches its end,
  /// and a dying rank may lose any number of its last messages.
  bool thorough = false;

  /// The start of a description, "seed 7: 3 ranks"; describe_trouble() returns its end.
  [[nodiscard]] std::string describe_ranks() const {
    return "seed " + std::to_string(seed) + ": " + std::to_string(ranks) + " ranks";
  }
  [[nodiscard]] std::string describe_trouble() const {
    auto text = ", deaths " + std::to_string(deaths) + ", suspicions " + std::to_string(suspicions);
    if (failing) text += ", job " + std::to_string(*failing) + " throws";
    if (stops_early) text += ", stops early";
    if (other_call) text += ", rank " + std::to_string(*other_call) + " makes another call";
    if (lost_in > 0) text += ", lost 1/" + std::to_string(lost_in);
    if (!ticks) text += ", no ticks";
    return text + ", chaos " + std::to_string(chaos);
  }
};

/// Draws a scenario from its seed: ranks, the values drawn by `own(scenario, below)`, and failures.
/// `must_die` forces at least one death. `jobs_per_rank` is a rough lower bound on jobs, one of which may
/// throw.
template <class Scenario, class Own>
Scenario draw_scenario(std::uint64_t seed, bool must_die, Own const& own, int jobs_per_rank,
                       std::uint64_t most_chaos) {
  std::mt19937_64 dice(seed);
  auto const below = [&](std::uint64_t n) { return dice() % n; };
  Scenario s;
  s.seed = seed;
  auto const most = below(10) == 0 ? 16U : 7U;
  s.ranks = must_die ? 2 + static_cast<int>(below(most - 1)) : 1 + static_cast<int>(below(most));
  own(s, below);
  if (s.ranks > 1) {
    auto const others = static_cast<std::uint64_t>(s.ranks - 1);
    if (must_die || below(3) == 0) s.deaths = 1 + static_cast<int>(below(others));
    if (below(3) == 0) s.suspicions = 1 + static_cast<int>(below(5));
    if (!must_die && below(20) == 0) s.other_call = 1 + static_cast<int>(below(others));
  }
  if (below(12) == 0)
    s.failing = static_cast<int>(below(static_cast<std::uint64_t>(jobs_per_rank * s.ranks)));
  if (below(20) == 0) s.stops_early = true;
  s.chaos = 5 + below(most_chaos);
  return s;
}

inline constexpr int everybody = -1;

struct peer_event {
  enum class kind : std::uint8_t {
    begin,      // rank a enters the call
    deliver,    // the oldest message from a arrives at b
    tick,       // the timer of rank a, or everybody, fires
    die,        // rank a dies; n of its messages to each rank still arrive
    detect,     // rank a learns that b is dead
    suspect,    // rank a wrongly suspects b
    heartbeat,  // rank a learns that b lives
    stop,       // rank a wants the run to end
    // Events added by a world:
    finish,     // rank a finishes its job number b, or its thread b some tasks
    ready,      // the unit that rank a reads has one more piece
    measure,    // the root knows the cost of units: groups of n
    saved,      // rank a ends writing its part of a checkpoint; n: 0 written, 1 failed
    committed,  // a commit ends; n: 0 committed, 1 failed, 2 reported as failed but committed
    damage,     // part b of checkpoint n becomes unreadable
    rerun,      // all ranks are killed at once and another job resumes; see the world
    start,      // thread b of rank a takes a task
    lend,       // rank a gives tasks to a thief
    away,       // rank a reports that it has had nothing to lend for a while
    state,      // rank a sends a statement of its debt n
    retry,      // rank a has waited before it tries again
    spread,     // rank a passes on a bound
    supply,     // the source produces more tasks
    sink,       // the sink receives results, or the root learns that it has
    overrun,    // the job of rank a runs for longer than it may
    retire,     // rank a is asked to leave the job, or (ring_steal: n = 1) to stay after all
    leave       // rank a, which the others do not need any more, ends
  };
  kind what = kind::begin;
  int a = 0, b = 0;
  std::uint64_t n = 0;

  [[nodiscard]] std::string describe() const {
    static constexpr std::array names{
        "begin", "deliver", "tick",   "die",       "detect", "suspect", "heartbeat", "stop", "finish",
        "ready", "measure", "saved",  "committed", "damage", "rerun",   "start",     "lend", "away",
        "state", "retry",   "spread", "supply",    "sink",   "overrun", "retire",    "leave"};
    return std::string(names.at(static_cast<std::size_t>(what))) + "(" + std::to_string(a) + "," +
           std::to_string(b) + ")";
  }
};

}  // namespace harness_common
