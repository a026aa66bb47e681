// Everything between results that the ledger has accepted and the user's sink having had them, on the root.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "call/sink_turn.hpp"
#include "engine/engine.hpp"
#include "help.hpp"
#include "recorder.hpp"
#include "sink_stage.hpp"
#include "skel/detail/farm_work.hpp"

namespace skel::detail {

/// One thread at a time gives results to the sink, without the engine's lock; meanwhile more come in.
class farm_sink {
 public:
  /// Opens the store where there are checkpoints: usage_error where it is not what it should be.
  farm_sink(engine& of, farm_work& work, farm_traits const& traits,
            std::optional<checkpoint_options> const& checkpoint);

  // --- under the engine's lock
  void push(result_batch batch, range_list const& accepted) { stage_.push(std::move(batch), accepted); }
  /// What an earlier run has left goes to the sink first.
  void push_restored();
  [[nodiscard]] bool waiting() const { return stage_.waiting(); }
  using entries = std::vector<sink_stage::entry>;
  [[nodiscard]] entries take() { return stage_.take(); }
  /// Reuses the memory of `had` and of its messages: fresh pages would cost more than what is read into them.
  void recycle(entries& had);

  // --- without it
  /// For the one thread that gives results to the sink.
  [[nodiscard]] sink_turn turn() { return sink_turn(busy_); }
  [[nodiscard]] sink_stage::progress drain(entries& list);
  /// The run stops: the sink has no more of it, but a later run need not compute it again. Gives the engine's
  /// lock away.
  void drop_rest(std::unique_lock<std::mutex> lock);
  void save_if_due();
  /// After the run, however it has ended: what the sink has had is durable, where the store allows.
  void save_last();
  [[nodiscard]] std::optional<checkpoint_report> checkpoint_costs();

  [[nodiscard]] range_list restored_tasks() const;
  /// Results that the sink has had; from any thread.
  [[nodiscard]] std::uint64_t sunk() const { return sunk_; }
  [[nodiscard]] farm_help& help() { return help_; }

 private:
  engine& engine_;
  sink_stage stage_;
  std::unique_ptr<farm_recorder> recorder_;  // with checkpoints
  farm_help help_;
  std::atomic_flag busy_;
  std::atomic<std::uint64_t> sunk_{0};
};

}  // namespace skel::detail
