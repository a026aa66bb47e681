// How many pieces a rank requests and a compute thread takes at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "multi_host/role/action.hpp"

namespace skel::detail {

/// Follows the time that the latest pieces took, separately for each host's term, since other units have
/// other costs. Called under the engine's lock.
class piece_pace {
 public:
  explicit piece_pace(unsigned threads) : costs_(threads) {}

  /// This rank works under `term` from now on. False: as before.
  bool restart(role::term_id term);
  /// `pieces` of `term` took a thread `seconds`. True: per_packet() may have changed.
  bool measured(unsigned thread, role::term_id term, std::uint64_t pieces, double seconds);
  /// Pieces of a packet, at most.
  [[nodiscard]] std::uint64_t per_packet() const { return pace_ * costs_.size(); }
  /// Pieces that a thread takes at a time.
  [[nodiscard]] std::uint64_t quantum(unsigned thread) const;

 private:
  std::vector<double> costs_;  // seconds per piece, by thread; 0: unknown
  std::uint64_t pace_ = 1;     // pieces of a packet for one thread
  role::term_id term_ = 0;
};

}  // namespace skel::detail
