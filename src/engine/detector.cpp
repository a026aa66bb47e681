#include "detector.hpp"

#include <algorithm>
#include <cmath>

namespace skel::detail {

namespace {
constexpr double longest_interval = 0.25;

// The part of an interval by which a rank's beats come earlier than the root's: any two ranks differ, and any
// few of them are spread evenly.
double phase_of(int rank) {
  constexpr double golden = 0.6180339887498949;
  double const at = golden * rank;
  return at - std::floor(at);
}
}  // namespace

detector::detector(int self, int size, double suspect_after, bool always, double now)
    : self_(self),
      suspect_after_(size > 1 ? suspect_after : 0),
      interval_(std::min(longest_interval, suspect_after / 4)),
      always_(always),
      last_beat_(now - interval_ * phase_of(self)),
      peers_(self == 0 ? static_cast<std::size_t>(size) : 1, {.last_heard = now, .watched = always}) {}

void detector::reset(double now) {
  if (always_) return;
  for (auto& p : peers_) p.watched = false;
  last_beat_ = now;
}

detector::verdict detector::beat(double now, std::set<int> const& lost) {
  verdict v;
  // Time for which this process was stopped is not silence of other ranks.
  stopped_ += std::max(0.0, now - last_beat_ - 2 * interval_);
  auto const n = turns();
  auto const due = std::clamp<double>(std::floor((now - last_beat_) / step()), 1, static_cast<double>(n));
  last_beat_ = due < static_cast<double>(n) ? last_beat_ + due * step() : now;
  for (auto k = static_cast<std::size_t>(due); k > 0; --k) {
    for (std::size_t i = turn_; i < peers_.size(); i += n)
      if (int const rank = static_cast<int>(i); my_concern(rank)) look_at(rank, now - stopped_, lost, v);
    turn_ = (turn_ + 1) % n;
    v.round_ends = v.round_ends || turn_ == 0;
  }
  return v;
}

void detector::look_at(int rank, double now, std::set<int> const& lost, verdict& v) {
  auto& p = peers_[place(rank)];
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

}  // namespace skel::detail
