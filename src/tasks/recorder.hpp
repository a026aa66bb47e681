// Checkpoints of a farm, on the root: every result that the sink receives, by task.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/recorder.hpp"
#include "result_log.hpp"
#include "sink_stage.hpp"
#include "skel/detail/farm_work.hpp"

namespace skel::detail {

/// One mechanism for all schedules, since it sees only what the root has accepted. Only the thread that
/// drains the sink calls it. The store holds tasks by their numbers in the list, so that a later run may
/// begin them in another order.
class farm_recorder final : public recorder {
 public:
  /// Throws as start().
  farm_recorder(engine& of, farm_work& work, farm_traits const& traits, checkpoint_options const& options,
                std::string const& label);

  /// The results of an earlier run, for the sink; empties the list.
  [[nodiscard]] std::vector<result_batch> take_restored();
  [[nodiscard]] range_list const& restored_tasks() const { return restored_tasks_; }

  void add(range_list const& ranges, std::span<std::byte const> results);

 private:
  void read(std::span<std::byte const> log, farm_traits const& traits);
  void keep(range_list const& ranges, std::span<std::byte const> results);
  [[nodiscard]] std::span<std::byte const> with_journal(std::span<std::byte const> results);
  void save_now(double now) override;

  farm_work const& work_;
  steered_book* book_ = nullptr;   // of a steered source
  std::vector<std::byte> packed_;  // for with_journal(); kept for its memory
  std::optional<merged_log> merged_;
  result_log log_;
  std::vector<result_batch> restored_;
  range_list restored_tasks_;
};

}  // namespace skel::detail
