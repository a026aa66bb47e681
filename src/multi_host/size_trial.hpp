// The trial that finds the size of groups: what the first units cost on the root.
#pragma once

#include <cstdint>

#include "clock.hpp"
#include "engine/engine.hpp"
#include "setup.hpp"
#include "skel/detail/group_work.hpp"

namespace skel::detail {

/// Collects the times of the first units. Called under the engine's lock, except measure_sending().
class size_trial {
 public:
  /// Reads the times off `clock`, and adds the time of sending to it.
  size_trial(engine& of, group_work& work, group_setup const& setup, group_clock& clock, unsigned threads)
      : engine_(of), work_(work), setup_(setup), clock_(clock), threads_(threads) {}

  void unit_read(std::uint64_t pieces);
  /// Whether there are pieces to process.
  [[nodiscard]] bool begun() const { return units_ > 0; }
  /// Measures the cost of sending this piece away and its result back.
  void measure_sending(host_packet const& packet, piece_result const& result);
  /// Whether enough pieces have been processed.
  [[nodiscard]] bool measured() const;
  /// The size that makes the call shortest, with the times so far.
  [[nodiscard]] unsigned find_size();
  [[nodiscard]] bool found() const { return found_; }

 private:
  engine& engine_;
  group_work& work_;
  group_setup const& setup_;
  group_clock& clock_;
  unsigned threads_;
  std::uint64_t units_ = 0;  // with pieces
  std::uint64_t pieces_ = 0;
  bool found_ = false;
};

}  // namespace skel::detail
