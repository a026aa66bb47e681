#include "bsp/role/superstep_watch.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

void superstep_watch::begin(std::vector<rank_id> const& members, superstep first) {
  members_.clear();
  for (rank_id const r : members) members_.try_emplace(r);
  first_ = first;
  counted_ = false;
}

void superstep_watch::begins(std::uint64_t step) {
  if (!first_) first_ = step;
  suspects_.acquit_before(step);
  if (step == *first_) return;
  for (auto& [rank, m] : members_) m = {true, std::max(m.next, superstep(step))};
}

void superstep_watch::finished(rank_id rank, std::uint64_t step) {
  auto const at = members_.find(rank);
  if (at != members_.end()) at->second = {true, std::max(at->second.next, superstep(step + 1))};
}

superstep_watch::superstep superstep_watch::oldest_unfinished() const {
  auto const least = std::min_element(members_.begin(), members_.end(), [](auto const& a, auto const& b) {
    return a.second.next < b.second.next;
  });
  return least->second.next ? least->second.next : first_;
}

bool superstep_watch::lost_somewhere(rank_id rank, std::vector<rank_id> const& living) {
  bool const asks = uncounted_.empty();
  if (asks) unheard_ = {living.begin(), living.end()};
  uncounted_.push_back(rank);
  heard_from(rank);
  return asks;
}

bool superstep_watch::heard_from(rank_id rank) {
  bool const awaited = unheard_.erase(rank) > 0;
  if (unheard_.empty())
    for (rank_id const r : std::exchange(uncounted_, {})) lost(r);
  return awaited;
}

void superstep_watch::lost(rank_id rank) {
  if (std::count(uncounted_.begin(), uncounted_.end(), rank) > 0) return;
  suspects_.take_back(rank);
  auto const at = members_.find(rank);
  if (at == members_.end()) return;
  auto const oldest = oldest_unfinished();
  suspects_.acquit_before(oldest);
  auto const [had_joined, next] = at->second;
  members_.erase(at);
  bool const computed_it = !next || next == oldest;
  if (counted_ || !had_joined || !computed_it) return;
  counted_ = true;
  latest_ = oldest;
  // Every member of an epoch computes a part of the suspected superstep.
  if (suspects_.contains(oldest)) suspects_.given(oldest, rank);
  suspects_.add(oldest, rank, true);
}

std::optional<superstep_watch::verdict> superstep_watch::tick() {
  suspects_.end_losses();
  return suspects_.tick();
}

}  // namespace skel::role
