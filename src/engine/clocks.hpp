// The offsets of the ranks' clocks against the root's, for traces.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>

#include "observe/clock_offsets.hpp"
#include "wires.hpp"

namespace skel::detail {

/// Each rank asks the root for its time, several times in a row, and reports the answer with the shortest
/// round trip. Requires the engine's lock.
class clocks {
 public:
  explicit clocks(wires& w) : wires_(w) {}

  /// The first time: begins to measure how this rank's clock differs from the root's, in the background.
  void measure_once();
  /// Begins to measure at the end of a call of all ranks, each of which does so.
  void measure(std::uint32_t call);
  /// Whether the measurement of this call has not ended. On the root: that of a living rank.
  [[nodiscard]] bool measures(std::uint32_t call) const;
  /// Ignores later answers.
  void stop() { measurement_.rounds_left = 0; }
  void on_control(int from, std::span<std::byte const> body);
  /// On the root: whether the rank's clock was measured or is the root's.
  [[nodiscard]] bool knows(int rank) const;
  /// On the root: its time when the rank's clock shows `t`.
  [[nodiscard]] double root_time(int rank, double t) const;

 private:
  void ask_for_time();

  wires& wires_;
  struct {
    std::uint32_t call = 0;
    unsigned rounds_left = 0;
    double asked = -std::numeric_limits<double>::infinity();
    observe::clock_sample best;
  } measurement_;
  struct rank_clock {
    observe::clock_offsets offsets;
    std::uint32_t measured_in = 0;  // the newest call at whose end the rank has measured
  };
  std::map<int, rank_clock> clocks_;  // on the root
};

}  // namespace skel::detail
