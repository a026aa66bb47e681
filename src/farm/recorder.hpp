// The checkpoints of a farm, on the root: every result that the sink is given, by task.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "call/store_writer.hpp"
#include "result_log.hpp"
#include "sink_stage.hpp"
#include "skel/detail/farm_work.hpp"

namespace skel::detail {

/// One mechanism for all schedules: it sees nothing but what the ledger has accepted. One thread at a time
/// calls it: the one that drains the sink.
class farm_recorder {
 public:
  /// Opens the store, reads what there is to resume from, and writes the first checkpoint. usage_error
  /// where the store is not what it should be.
  farm_recorder(engine& of, farm_work& work, farm_traits const& traits, checkpoint_options const& options);

  /// What an earlier run has left, for the sink; empties it.
  [[nodiscard]] std::vector<result_batch> take_restored();
  [[nodiscard]] range_list const& restored_tasks() const { return restored_tasks_; }

  void add(range_list const& ranges, std::span<std::byte const> results);
  void save_if_due(double now);
  /// After the run, however it has ended: all that the sink has had is durable when it returns, where the
  /// store allows.
  void close();
  [[nodiscard]] checkpoint_report& costs() { return writer_.costs(); }

 private:
  void read(std::span<std::byte const> log, farm_traits const& traits);
  void start(double now);

  std::optional<merged_log> merged_;
  result_log log_;
  bool dirty_ = false;  // something came since the latest checkpoint was begun
  std::vector<result_batch> restored_;
  range_list restored_tasks_;
  store_writer writer_;
};

}  // namespace skel::detail
