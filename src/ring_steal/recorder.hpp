// The checkpoints of a ring_steal call, on the root: the latest statement of the value of the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "checkpoint/store_writer.hpp"
#include "statement.hpp"

namespace skel::detail {

/// All functions except the constructor and close() require the engine's lock.
class steal_recorder {
 public:
  /// Opens the store, reads the checkpoint to resume from, and writes the first checkpoint. Throws
  /// usage_error if the store cannot be used.
  steal_recorder(engine& of, checkpoint_options const& options, call_description what);

  /// The state left by an earlier run; empty if that run had not begun or there was none. Call
  /// once.
  [[nodiscard]] std::optional<steal_statement> take_restored();

  void record(steal_statement const& whole);
  /// Whether a checkpoint can be written now; its content should then be recorded.
  [[nodiscard]] bool due(double now) { return writer_.due(now); }
  void save_if_due(double now);
  /// Seconds between checkpoints at present.
  [[nodiscard]] double interval() const { return writer_.interval(); }
  /// Call after the run, however it ended. On return, the recorded state is durable if the store
  /// permits.
  void close();

  /// The costs of the checkpoints, for the report.
  [[nodiscard]] checkpoint_report& costs() { return writer_.costs(); }

 private:
  void start(double now);

  store_writer writer_;
  std::optional<steal_statement> restored_;
  std::shared_ptr<std::vector<std::byte> const> latest_;
  bool dirty_ = false;  // recorded since the latest checkpoint began
};

}  // namespace skel::detail
