// Complete units on their way to the user's sink, on the root or on the host that led them.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "call/sink_turn.hpp"
#include "cargo.hpp"
#include "engine/engine.hpp"
#include "skel/detail/group_work.hpp"

namespace skel::detail {

/// On the root, units wait here for the sink; one thread at a time gives them to it, without the engine's
/// lock.
class unit_sink {
 public:
  unit_sink(engine& of, group_work& work, bool in_order) : engine_(of), work_(work), in_order_(in_order) {}

  // --- under the engine's lock
  void push(std::uint64_t unit, std::vector<labelled_piece>& results);
  struct entry {
    std::uint64_t unit = 0;
    unit_of_results results;
  };
  /// The unit that the sink receives next, if it is here and the sink goes on.
  [[nodiscard]] std::optional<entry> next();
  /// The sink was at a unit for `seconds`.
  void received(double seconds, bool failed, bool goes_on);
  [[nodiscard]] double seconds() const { return seconds_; }

  // --- without it
  /// For the one thread that gives results to the sink.
  [[nodiscard]] sink_turn turn() { return sink_turn(busy_); }
  /// Gives the results of a unit to the sink. False: the sink wants the run to end.
  [[nodiscard]] bool give(std::uint64_t unit, unit_of_results& results);
  /// Units that the sink has received; from any thread.
  [[nodiscard]] std::uint64_t sunk() const { return sunk_; }

 private:
  engine& engine_;
  group_work& work_;
  bool in_order_;
  std::map<std::uint64_t, unit_of_results> waiting_;
  std::uint64_t next_ = 0;  // for a sink in order
  std::atomic<std::uint64_t> sunk_{0};
  std::atomic_flag busy_;
  bool stopped_ = false;
  double seconds_ = 0;
};

}  // namespace skel::detail
