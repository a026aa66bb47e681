// Results that a rank has computed but not sent yet.
#pragma once

#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "sink_stage.hpp"
#include "skel/detail/farm_work.hpp"

namespace skel::detail {

/// Kept in the order of the member role's list of done tasks. Call under the engine's lock. Exceptions of
/// the user's merge pass through.
class unsent_results {
 public:
  unsent_results(farm_work& work, bool merged, engine& of) : work_(work), merged_(merged), engine_(of) {}

  /// Joins batches of bytes, and batches of objects if they merge.
  void add(result_batch batch);
  /// Everything as one batch of bytes, the content of a results message.
  [[nodiscard]] result_batch take_packed();
  /// Batch by batch, for the root itself, since objects cannot be joined.
  [[nodiscard]] std::vector<result_batch> take_all() { return std::exchange(batches_, {}); }
  [[nodiscard]] task_id first_task() const { return batches_.front().ranges.front().first; }
  [[nodiscard]] bool empty() const { return batches_.empty(); }
  void clear() { batches_.clear(); }

 private:
  void join(result_batch& to, result_batch& more);

  farm_work& work_;
  bool merged_;
  engine& engine_;
  std::vector<result_batch> batches_;
};

}  // namespace skel::detail
