// The time between checkpoints: fixed, or from what they cost and how often runs fail.
#pragma once

#include <algorithm>

#include "skel/storage/generation.hpp"
#include "skel/storage/options.hpp"

namespace skel::detail {

/// If no interval is given, Daly's [Daly06, eq. 37] for the measured cost of a checkpoint and the rate of
/// failures: one failure per options.mean_seconds_between_failures at first, corrected by the failures and
/// the running time of this run and of those that it resumes.
class checkpoint_interval {
 public:
  /// Throws usage_error for invalid options.
  explicit checkpoint_interval(checkpoint_options const& options);

  /// Seconds from the beginning of a checkpoint to that of the next.
  [[nodiscard]] double seconds() const;

  /// This run resumes one with this history. It has failed, unless it ended in an orderly way.
  void resumed(storage::run_history const& past);
  /// This run has computed for `seconds` in all.
  void ran(double seconds) { here_ = seconds; }
  /// A failure undid the work since the last checkpoint, and the run goes on.
  void failed() { ++past_.failures; }
  /// A checkpoint took this time from the computation, in seconds.
  void saved(double cost);

  /// A checkpoint that failed took this time. A quick failure does not make the next ones more frequent.
  void not_saved(double cost) { cost_ = std::max(cost_, cost); }

  /// What a checkpoint of this moment records.
  [[nodiscard]] storage::run_history history(bool ended) const {
    return {past_.seconds + here_, past_.failures, ended};
  }

 private:
  std::optional<double> given_;
  double guess_;
  storage::run_history past_;
  double here_ = 0, cost_ = 0;  // 0: unknown
};

/// On ranks other than the root, which alone knows the cost.
[[nodiscard]] inline double usual_interval(checkpoint_options const& options) {
  return options.every_seconds.value_or(10);
}

}  // namespace skel::detail
