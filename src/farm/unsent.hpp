// Results that a rank has computed and not sent yet.
#pragma once

#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "sink_stage.hpp"
#include "skel/detail/farm_work.hpp"

namespace skel::detail {

/// In the order of the worker role's list of what is done. Called under the engine's lock. What the user's
/// merge throws passes through.
class unsent_results {
 public:
  unsent_results(farm_work& work, bool merged, engine& of) : work_(work), merged_(merged), engine_(of) {}

  /// Joins batches of bytes, and those of objects where they merge.
  void add(result_batch batch);
  /// All as one batch of bytes: what a results message carries.
  [[nodiscard]] result_batch take_packed();
  /// Batch by batch, for the root itself: objects cannot be joined.
  [[nodiscard]] std::vector<result_batch> take_all() { return std::exchange(batches_, {}); }
  [[nodiscard]] task_id first_task() const { return batches_.front().ranges.front().first; }
  void clear() { batches_.clear(); }

 private:
  void join(result_batch& to, result_batch& more);

  farm_work& work_;
  bool merged_;
  engine& engine_;
  std::vector<result_batch> batches_;
};

}  // namespace skel::detail
