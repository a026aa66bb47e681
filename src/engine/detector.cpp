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
      peers_(self == 0 ? static_cast<std::size_t>(size) : 1, {.last_heard = now, .watched = always}) {}

void detector::reset(double now) {
  if (always_) return;
  for (auto& p : peers_) p.watched = false;
  last_beat_ = now;
}

detector::verdict detector::beat(double now, std::set<int> const& lost) {
  verdict v;
  // Time for which this process was stopped is not silence of other ranks.
  double const stalled = std::max(0.0, now - last_beat_ - 2 * interval_);
  last_beat_ = now;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    int const rank = static_cast<int>(i);
    if (!my_concern(rank)) continue;
    auto& p = peers_[i];
    p.last_heard += stalled;
    bool const is_lost = lost.contains(rank);
    if (p.heard) {
      p.last_heard = now;
      p.watched = true;
    } else if (p.watched && !is_lost && now - p.last_heard > suspect_after_) {
      v.silent.push_back(rank);
    }
    if (!p.sent && !is_lost) v.greet.push_back(rank);
    p.heard = p.sent = false;
  }
  return v;
}

}  // namespace skel::detail
