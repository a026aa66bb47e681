#include "skel/protocol/ring_search.hpp"

#include <algorithm>

namespace skel::protocol {

ring_search::ring_search(rank_id self, std::vector<rank_id> ranks, rank_id busy) {
  auto const at = std::find(ranks.begin(), ranks.end(), self);
  ring_.assign(at + 1, ranks.end());
  ring_.insert(ring_.end(), ranks.begin(), at);
  visited_.resize(ring_.size());
  lost_.resize(ring_.size());
  if (busy != self) busy_ = busy;
}

std::size_t ring_search::index_of(rank_id rank) const {
  return static_cast<std::size_t>(std::find(ring_.begin(), ring_.end(), rank) - ring_.begin());
}

std::optional<rank_id> ring_search::next() {
  if (asked_ >= arc) return std::nullopt;
  std::size_t at = busy_ ? index_of(*busy_) : ring_.size();
  if (at == ring_.size() || !open(at))
    for (at = 0; at < ring_.size() && !open(at);) ++at;
  if (at == ring_.size()) return std::nullopt;
  visited_[at] = true;
  ++asked_;
  return ring_[at];
}

void ring_search::found(rank_id victim) {
  busy_ = victim;
  visited_.assign(visited_.size(), false);
  asked_ = 0;
}

void ring_search::idle(rank_id victim, std::optional<rank_id> hint) {
  if (busy_ == victim) busy_.reset();
  if (!hint) return;
  auto const at = index_of(*hint);
  if (at < ring_.size() && open(at)) busy_ = hint;
}

void ring_search::retry() {
  asked_ = 0;
  for (std::size_t i = 0; i < ring_.size(); ++i)
    if (open(i)) return;
  visited_.assign(visited_.size(), false);
}

void ring_search::lost(rank_id rank) {
  if (auto const at = index_of(rank); at < ring_.size()) lost_[at] = true;
  if (busy_ == rank) busy_.reset();
}

void ring_search::heard(rank_id rank) {
  if (auto const at = index_of(rank); at < ring_.size()) lost_[at] = false;
}

void ring_search::add_to(digest& d) const {
  for (std::size_t i = 0; i < ring_.size(); ++i) d.add((visited_[i] ? 1U : 0U) + (lost_[i] ? 2U : 0U));
  d.add(busy_ ? static_cast<std::uint64_t>(*busy_) + 1 : 0).add(asked_);
}

}  // namespace skel::protocol
