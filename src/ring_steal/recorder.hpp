// The checkpoints of a ring_steal call, on the root: the latest statement of what the whole run is worth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "call/store_writer.hpp"
#include "statement.hpp"

namespace skel::detail {

/// Under the engine's lock, but for the constructor and close().
class steal_recorder {
 public:
  /// Opens the store, reads what there is to resume from, and writes the first checkpoint. usage_error
  /// where the store is not what it should be.
  steal_recorder(engine& of, checkpoint_options const& options, std::uint64_t type_hash);

  /// What an earlier run has left; empty where it had not begun, or there was none. Once.
  [[nodiscard]] std::optional<steal_statement> take_restored();

  void record(steal_statement const& whole);
  /// Whether a checkpoint could be written: what is to go into it had better be recorded now.
  [[nodiscard]] bool due(double now) { return writer_.due(now); }
  void save_if_due(double now);
  /// After the run, however it has ended: what was recorded is durable when it returns, where the store
  /// allows.
  void close();

  /// Tasks whose results are in what was recorded last.
  [[nodiscard]] checkpoint_report& costs() { return writer_.costs(); }

 private:
  void start(double now);

  store_writer writer_;
  std::optional<steal_statement> restored_;
  std::shared_ptr<std::vector<std::byte> const> latest_;
  bool dirty_ = false;  // recorded since the latest checkpoint was begun
};

}  // namespace skel::detail
