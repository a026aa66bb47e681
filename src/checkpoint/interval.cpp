#include "interval.hpp"

#include <cmath>

#include "base/format.hpp"
#include "skel/error.hpp"

namespace skel::detail {

checkpoint_interval::checkpoint_interval(checkpoint_options const& options)
    : given_(options.every_seconds), guess_(options.mean_seconds_between_failures) {
  if (given_) require_seconds("checkpoint", "every_seconds", *given_);
  if (!(guess_ > 0 && std::isfinite(guess_)))
    throw usage_error(detail::format(
        "checkpoint: mean_seconds_between_failures is {}, expected a finite number above 0", guess_));
}

double checkpoint_interval::seconds() const {
  if (given_) return *given_;
  // The guess counts as one failure after that time.
  double const mean = (guess_ + past_.seconds + here_) / (1 + static_cast<double>(past_.failures));
  if (cost_ >= 2 * mean) return mean;
  double const ratio = cost_ / (2 * mean);
  return std::sqrt(2 * cost_ * mean) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - cost_;
}

void checkpoint_interval::resumed(storage::run_history const& past) {
  past_ = past;
  if (!past.ended) ++past_.failures;
}

void checkpoint_interval::saved(double cost) {
  constexpr double newest = 0.3;  // weight: the cost of a checkpoint changes slowly
  cost_ = cost_ == 0 ? cost : (1 - newest) * cost_ + newest * cost;
}

}  // namespace skel::detail
