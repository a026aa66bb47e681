// How many pieces a rank requests and a compute thread takes at a time.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "call/pace.hpp"
#include "multi_host/role/action.hpp"

namespace skel::detail {

/// Follows the time that the latest pieces took, separately for each host's term, since other units have
/// other costs. Called under the engine's lock.
class piece_pace {
 public:
  explicit piece_pace(unsigned threads) : threads_(threads, task_pace(of_thread)), packet_(of_packet) {}

  /// This rank works under `term` from now on. False: as before.
  bool restart(role::term_id term) {
    if (std::exchange(term_, term) == term) return false;
    threads_.assign(threads_.size(), task_pace(of_thread));
    packet_ = task_pace(of_packet);
    return true;
  }
  /// `pieces` of `term` took a thread `seconds`. True: per_packet() may have changed.
  bool measured(unsigned thread, role::term_id term, std::uint64_t pieces, double seconds) {
    threads_[thread].measured(pieces, seconds);
    if (pieces == 0 || term != term_) return false;
    packet_.measured(pieces, seconds);
    return true;
  }
  /// Pieces of a packet, at most.
  [[nodiscard]] std::uint64_t per_packet() const { return packet_.limit() * threads_.size(); }
  /// Pieces that a thread takes at a time.
  [[nodiscard]] std::uint64_t quantum(unsigned thread) const { return threads_[thread].limit(); }

 private:
  static constexpr pace_rule of_thread{.weight = 1, .growth = most_tasks_of_quantum};
  // Work in a packet, per thread, at most. It leaves work for ranks that join the group later.
  static constexpr pace_rule of_packet{.seconds = 0.02, .weight = 1, .growth = 2};

  std::vector<task_pace> threads_;
  task_pace packet_;  // for one thread
  role::term_id term_ = 0;
};

}  // namespace skel::detail
