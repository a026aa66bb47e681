// The compute threads' part of a multi_host call that processes pieces, how many they take at a time, and the
// trial that finds the size of groups by the first ones.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "call/pace.hpp"
#include "cargo_hold.hpp"
#include "engine/engine.hpp"
#include "multi_host/role/message.hpp"
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

/// Processes the pieces of a job, and packs the results that leave this rank while they are in the cache.
class piece_runner {
 public:
  piece_runner(engine& of, group_work& work, group_setup const& setup, size_trial& trial, unsigned threads)
      : engine_(of), work_(work), setup_(setup), trial_(trial), outgoing_(threads) {}

  struct outcome {
    std::vector<held_piece> results;
    std::uint64_t bytes = 0;  ///< of the results, as the member counts them
    double away = 0;          ///< seconds of messages between the pieces
  };
  /// Returns the packet for the results of `j`, or null if they stay here. Called under the engine's lock.
  /// `taken_back`: this rank, as a host, has taken pieces back from a lost rank.
  [[nodiscard]] std::shared_ptr<transport::packet> room_for_results(unsigned thread, process_job const& j,
                                                                    bool taken_back);
  /// Called without the lock. Stops early once `draining`. `to` receives the results of the processed pieces,
  /// also if a function of the user's throws.
  void run(unsigned thread, process_job const& j, std::shared_ptr<transport::packet> const& together,
           std::atomic<bool> const& draining, outcome& to);

 private:
  // The packet into which a thread packs the results of a unit that this rank leads. It may become the unit's
  // message. Padded, so that threads do not share cache lines.
  struct alignas(128) outgoing {
    role::term_id term = 0;
    std::uint64_t unit = 0;
    std::shared_ptr<transport::packet> packed;
  };

  engine& engine_;
  group_work& work_;
  group_setup const& setup_;
  size_trial& trial_;
  std::vector<outgoing> outgoing_;  // by thread
};

}  // namespace skel::detail
