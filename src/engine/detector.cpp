#include "detector.hpp"

#include <algorithm>

namespace skel::detail {

namespace {
constexpr double longest_interval = 0.25;
}

detector::detector(int self, int size, double suspect_after, bool always, double now)
    : self_(self),
      suspect_after_(size > 1 ? suspect_after : 0),
      interval_(std::min(longest_interval, suspect_after / 4)),
      always_(always),
      last_beat_(now),
      last_heard_(static_cast<std::size_t>(size), now),
      watched_(static_cast<std::size_t>(size), always),
      heard_(static_cast<std::size_t>(size)),
      sent_(static_cast<std::size_t>(size)) {}

void detector::reset(double now) {
  if (always_) return;
  std::fill(watched_.begin(), watched_.end(), false);
  last_beat_ = now;
}

detector::verdict detector::beat(double now, std::vector<bool> const& lost) {
  verdict v;
  // Time for which this process was stopped is not silence of other ranks.
  double const stalled = std::max(0.0, now - last_beat_ - 2 * interval_);
  last_beat_ = now;
  for (std::size_t i = 0; i < last_heard_.size(); ++i) {
    int const rank = static_cast<int>(i);
    if (!my_concern(rank)) continue;
    last_heard_[i] += stalled;
    if (heard_[i]) {
      last_heard_[i] = now;
      watched_[i] = true;
    } else if (watched_[i] && !lost[i] && now - last_heard_[i] > suspect_after_) {
      v.silent.push_back(rank);
    }
    if (!sent_[i] && !lost[i]) v.greet.push_back(rank);
    heard_[i] = sent_[i] = 0;
  }
  return v;
}

}  // namespace skel::detail
