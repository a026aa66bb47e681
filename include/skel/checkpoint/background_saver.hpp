// Saves in a thread of its own while the computation goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "skel/checkpoint/repository.hpp"

namespace skel::storage {

/// Parts of generations, and commits, on their way into a store. The thread only writes files: it calls
/// neither MPI nor the caller's code. Two buffers: one is written while the caller fills the next.
///
///     saver.start(plan, rank, "rank", std::move(bytes));   // waits only while the one before is written
///     … compute …
///     if (auto done = saver.poll()) …                      // then tell the root, who commits
class background_saver {
 public:
  explicit background_saver(repository store);
  /// Waits for what is being written.
  ~background_saver();
  background_saver(background_saver const&) = delete;
  background_saver& operator=(background_saver const&) = delete;

  struct outcome {
    generation_plan plan;
    std::uint32_t part = 0;  ///< plan.parts: the commit
    save_cost cost;
    std::optional<std::string> error;   ///< text of the skel::error; empty: its shards are durable
    std::vector<std::string> problems;  ///< what was reported on the way
  };

  /// Gives the bytes away. Parts are written in the order of the calls, one at a time; where one is being
  /// written and another waits already, waits for the first.
  void start(generation_plan const& plan, std::uint32_t part, std::string name, std::vector<std::byte> bytes);
  /// commit() and remove_old(), in the same order of calls. For the one process that knows that all parts are
  /// durable.
  void start_commit(generation_plan const& plan);
  /// The outcome of the oldest of these that is done and was not given back yet.
  [[nodiscard]] std::optional<outcome> poll();
  /// Likewise, but waits for it; empty where none is on its way.
  [[nodiscard]] std::optional<outcome> wait();
  /// A buffer that is no longer needed, with its memory, for the next state; empty the first two times.
  [[nodiscard]] std::vector<std::byte> buffer();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace skel::storage
