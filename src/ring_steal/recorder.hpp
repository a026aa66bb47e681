// The checkpoints of a ring_steal call, on the root: the latest statement of the value of the run.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "books.hpp"
#include "checkpoint/recorder.hpp"

namespace skel::detail {

/// All functions except the constructor and close() require the engine's lock.
class steal_recorder final : public recorder {
 public:
  /// Throws as start().
  steal_recorder(engine& of, checkpoint_options const& options, call_description what);

  /// The state left by an earlier run; empty if that run had not begun or there was none. Call once.
  [[nodiscard]] std::optional<steal_statement> take_restored();

  void record(steal_statement const& whole);

 private:
  void save_now(double now) override;

  std::optional<steal_statement> restored_;
  std::shared_ptr<std::vector<std::byte> const> latest_;
};

}  // namespace skel::detail
