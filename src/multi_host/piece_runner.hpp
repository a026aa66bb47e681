// The compute threads' part of a multi_host call that processes pieces.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "cargo.hpp"
#include "engine/engine.hpp"
#include "setup.hpp"
#include "size_trial.hpp"
#include "worker_packets.hpp"

namespace skel::detail {

/// Processes the pieces of a job, and packs the results that leave this rank while they are in the cache.
class piece_runner {
 public:
  piece_runner(engine& of, group_work& work, group_setup const& setup, size_trial& trial, unsigned threads)
      : engine_(of), work_(work), setup_(setup), trial_(trial), outgoing_(threads) {}

  struct outcome {
    std::vector<held_piece> results;
    std::uint64_t bytes = 0;  ///< of the results, as the worker role counts them
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
