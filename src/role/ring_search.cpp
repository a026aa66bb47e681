#include "role/ring_search.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

ring_search::ring_search(rank_id self, std::shared_ptr<std::vector<rank_id> const> ring, ring_order order)
    : self_(self), ring_(std::move(ring)), order_(order), visited_(ring_->size()), dead_(ring_->size()) {
  at_ = index_of(self).value_or(0);
}

std::optional<std::size_t> ring_search::index_of(rank_id rank) const {
  // On most rings rank r is at place r, or one before it when the root only serves.
  for (rank_id const place : {rank, rank - 1})
    if (place >= 0 && static_cast<std::size_t>(place) < ring_->size() &&
        (*ring_)[static_cast<std::size_t>(place)] == rank)
      return static_cast<std::size_t>(place);
  auto const at = std::find(ring_->begin(), ring_->end(), rank);
  if (at == ring_->end()) return std::nullopt;
  return static_cast<std::size_t>(at - ring_->begin());
}

bool ring_search::may_ask(std::optional<rank_id> rank) const {
  if (!rank || *rank == self_) return false;
  auto const i = index_of(*rank);
  return i && !visited_[*i] && !dead_[*i];
}

void ring_search::begin() {
  visited_.assign(visited_.size(), false);
  step_ = 0;
  hint_.reset();
}

std::optional<rank_id> ring_search::next() {
  auto const ask = [&](rank_id rank) {
    visited_[*index_of(rank)] = true;
    return rank;
  };
  if (auto const hint = std::exchange(hint_, std::nullopt); may_ask(hint)) return ask(*hint);
  if (may_ask(busy_)) return ask(*busy_);
  std::size_t const n = ring_ ? ring_->size() : 0;
  while (++step_ < n) {
    std::size_t distance = step_;
    if (order_ == ring_order::doubling) {
      if (step_ > 63) break;
      distance = std::size_t{1} << (step_ - 1);
      if (distance >= n) break;
    } else if (order_ == ring_order::predecessors) {
      distance = n - step_;
    }
    if (auto const rank = (*ring_)[(at_ + distance) % n]; may_ask(rank)) return ask(rank);
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
  if (!ring_) return;
  if (auto const i = index_of(rank)) dead_[*i] = true;
  idle(rank);
}

void ring_search::alive(rank_id rank) {
  if (!ring_) return;
  if (auto const i = index_of(rank)) dead_[*i] = false;
}

void ring_search::hash(digest& d) const {
  d.add(step_)
      .add(static_cast<std::uint64_t>(busy_.value_or(-1)))
      .add(static_cast<std::uint64_t>(hint_.value_or(-1)));
  for (std::size_t i = 0; i < visited_.size(); ++i) d.add(visited_[i] * 2U + dead_[i]);
}

}  // namespace skel::role
