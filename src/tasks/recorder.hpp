// Checkpoints of a farm, on the root: every result that the sink receives, by task.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/recorder.hpp"
#include "sink_stage.hpp"
#include "skel/detail/farm_work.hpp"
#include "skel/detail/task_range.hpp"

namespace skel::detail {

/// The content of the checkpoint: entries of task ranges and the bytes of their results. Entries are never
/// copied again, so taking them is cheap. A log behind another is a log.
class result_log {
 public:
  void add(range_list const& ranges, std::span<std::byte const> results);

  using segments = std::vector<std::shared_ptr<std::vector<std::byte> const>>;
  /// Everything added since the last call.
  [[nodiscard]] segments take();

 private:
  void seal();

  segments sealed_;
  std::vector<std::byte> open_;
};

/// Results that merge into one value: the log holds that value and the tasks in it.
class merged_log {
 public:
  /// merge(into, more): both hold a packed value.
  using merge = std::function<void(std::vector<std::byte>& into, std::span<std::byte const> more)>;
  explicit merged_log(merge m) : merge_(std::move(m)) {}
  void add(range_list const& ranges, std::span<std::byte const> results);
  [[nodiscard]] std::vector<std::byte> all() const;

 private:
  merge merge_;
  range_list ranges_;
  std::vector<std::byte> value_;
};

struct logged_results {
  range_list ranges;
  std::span<std::byte const> results;  // points into the bytes read
};
/// The entries of a log of a farm of `tasks` tasks. Throws protocol_error if the bytes are not a log, or if
/// they name a task that does not exist or name one twice.
[[nodiscard]] std::vector<logged_results> read_log(std::span<std::byte const> bytes, std::uint64_t tasks);

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
