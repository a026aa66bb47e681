#include "detector.hpp"

#include <algorithm>
#include <cmath>

namespace skel::detail {

namespace {
constexpr int few = 128;  // ranks that the root can watch alone
// With many ranks, heartbeats are fewer.
double interval_of(int size, double suspect_after) {
  return size > few ? std::min(1.0, suspect_after / 8) : std::min(0.25, suspect_after / 4);
}

// The part of an interval by which a rank's beats come earlier than the root's: any two ranks differ, and any
// few of them are spread evenly.
double phase_of(int rank) {
  constexpr double golden = 0.6180339887498949;
  double const at = golden * rank;
  return at - std::floor(at);
}
}  // namespace

watch_tree::watch_tree(int size) : size_(size), block_(size) {
  if (size > few) block_ = static_cast<int>(std::ceil(std::sqrt(size)));
}

int watch_tree::block_end(int leader) const { return std::min(size_, leader + block_); }

detector::detector(int self, int size, double suspect_after, bool always, double now)
    : self_(self),
      tree_(size),
      suspect_after_(size > 1 ? suspect_after : 0),
      interval_(interval_of(size, suspect_after)),
      always_(always),
      last_beat_(now - interval_ * phase_of(self)) {
  int const first = tree_.leader_of(self);
  int watched = 1;  // ranks, roughly
  int places = size;
  if (self == 0) {
    watched = tree_.block_end(0) + size / tree_.block_end(0);
  } else if (first == self) {
    watched = places = tree_.block_end(self) - self + 1;
  } else {
    places = first == 0 ? 1 : 2;
  }
  turns_ = (static_cast<std::size_t>(watched) + most_at_once - 1) / most_at_once;
  peers_.assign(static_cast<std::size_t>(places), {.last_heard = now, .mine = true, .watched = always});
}

void detector::reset(double now) {
  if (always_) return;
  for (auto& p : peers_) p.watched = false;
  last_beat_ = now;
}

bool detector::watches(int rank, std::set<int> const& lost) const {
  if (!known(rank)) return false;
  int const leader = tree_.leader_of(self_ == 0 ? rank : self_);
  if (self_ == 0)
    return leader == 0 || leader == rank || lost.contains(leader) || peers_[place(rank)].adopted;
  if (rank != 0 || leader == 0 || leader == self_) return true;
  return doubts_leader_ || doubts_root_ || lost.contains(leader);
}

detector::verdict detector::beat(double now, std::set<int> const& lost) {
  verdict v;
  // Time for which this process was stopped is not silence of other ranks.
  stopped_ += std::max(0.0, now - last_beat_ - 2 * interval_);
  auto const n = turns_;
  auto const due = std::clamp<double>(std::floor((now - last_beat_) / step()), 1, static_cast<double>(n));
  last_beat_ = due < static_cast<double>(n) ? last_beat_ + due * step() : now;
  for (auto k = static_cast<std::size_t>(due); k > 0; --k) {
    for (std::size_t i = 0; i < peers_.size(); ++i)
      if (int const rank = rank_at(i); known(rank) && turn_of(rank) == turn_)
        look_at(rank, now - stopped_, lost, v);
    turn_ = (turn_ + 1) % n;
  }
  return v;
}

void detector::look_at(int rank, double now, std::set<int> const& lost, verdict& v) {
  auto& p = peers_[place(rank)];
  bool const is_lost = lost.contains(rank);
  bool const mine = watches(rank, lost);
  if (mine && !p.mine) {  // from now on
    p.last_heard = now;
    p.watched = always_;
  }
  p.mine = mine;
  bool const leads_me = rank != 0 && self_ != 0 && !tree_.is_leader(self_);
  if (p.heard) {
    p.last_heard = now;
    p.watched = true;
    if (leads_me) doubts_leader_ = false;
  } else if (mine && p.watched && !is_lost && now - p.last_heard > suspect_after_) {
    if (leads_me)
      doubts_leader_ = true;  // the root knows better
    else
      v.silent.push_back(rank);
  }
  if (bool const doubts = doubts_leader_ || doubts_root_; leads_me && (doubts || said_doubt_))
    v.doubt = said_doubt_ = doubts;
  if (mine && !p.sent && !is_lost) v.greet.push_back(rank);
  p.heard = p.sent = false;
}

}  // namespace skel::detail
