#include "ring_search.hpp"

#include <utility>

namespace skel::role {

bool ring_search::may_ask(std::optional<rank_id> rank) const {
  if (!rank || *rank == self_ || *rank < first_ || *rank >= ranks_) return false;
  return !visited_[static_cast<std::size_t>(*rank)] && !lost_.is_lost(*rank);
}

void ring_search::begin() {
  visited_.assign(static_cast<std::size_t>(ranks_), false);
  step_ = 0;
  hint_.reset();
}

std::optional<rank_id> ring_search::next() {
  auto const ask = [&](rank_id rank) {
    visited_[static_cast<std::size_t>(rank)] = true;
    return rank;
  };
  if (auto const hint = std::exchange(hint_, std::nullopt); may_ask(hint)) return ask(*hint);
  if (may_ask(busy_)) return ask(*busy_);
  int const n = ranks_ - first_;
  while (++step_ < n) {
    int distance = step_;
    if (order_ == schedule::ring_order::doubling) {
      if (step_ > 31) break;
      distance = 1 << (step_ - 1);
      if (distance >= n) break;
    } else if (order_ == schedule::ring_order::predecessors) {
      distance = n - step_;
    }
    auto const at = [&](int d) { return first_ + (self_ - first_ + d) % n; };
    // A lost rank's successor stands in for it: else a rank that has lost all it asks would get no more work.
    if (order_ == schedule::ring_order::doubling)
      while (distance < n && lost_.is_lost(at(distance))) ++distance;
    if (auto const rank = at(distance); may_ask(rank)) return ask(rank);
  }
  step_ = n;
  return std::nullopt;
}

void ring_search::idle(rank_id rank) {
  if (busy_ == rank) busy_.reset();
}

void ring_search::shortcut(rank_id rank, rank_id busy) {
  idle(rank);
  hint_ = busy;
}

void ring_search::lost(rank_id rank) {
  lost_.lost(rank);
  idle(rank);
}

}  // namespace skel::role
