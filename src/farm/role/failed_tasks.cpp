#include "farm/role/failed_tasks.hpp"

#include <algorithm>

namespace skel::role {

bool failed_tasks::add(task_id task, rank_id rank, std::uint64_t nth) {
  auto& failures = all_[task].failures;
  failure const now{rank, nth};
  if (std::find(failures.begin(), failures.end(), now) != failures.end()) return false;
  failures.push_back(now);
  return true;
}

unsigned failed_tasks::times(task_id task) const {
  auto const at = all_.find(task);
  return at == all_.end() ? 0 : static_cast<unsigned>(at->second.failures.size());
}

bool failed_tasks::failed_on(task_id task, rank_id rank) const {
  auto const at = all_.find(task);
  return at != all_.end() && std::any_of(at->second.failures.begin(), at->second.failures.end(),
                                         [&](failure const& f) { return f.rank == rank; });
}

std::optional<rank_id> failed_tasks::taker(task_id task, farm_dealer const& dealer) const {
  auto const fresh = [&](rank_id rank) { return !elsewhere_ || !failed_on(task, rank); };
  auto const takers = dealer.takers_alone();  // the root only if it is alone
  if (auto const at = std::find_if(takers.begin(), takers.end(), fresh); at != takers.end()) return *at;
  auto const& ranks = dealer.ranks();
  if (ranks.computes(root_) && ranks.said_hello(root_) && fresh(root_)) return root_;
  for (rank_id r = 0; r < ranks.ranks(); ++r)
    if (ranks.computes(r) && !ranks.said_hello(r) && fresh(r)) return std::nullopt;
  if (takers.empty()) return std::nullopt;
  return takers[times(task) % takers.size()];
}

void failed_tasks::settle(task_range const& tasks) {
  if (all_.empty()) return;
  auto const end = all_.upper_bound(tasks.last());
  for (auto at = all_.lower_bound(tasks.first); at != end;)
    at = tasks.contains(at->first) ? all_.erase(at) : std::next(at);
}

std::vector<task_id> failed_tasks::waiting() const {
  std::vector<task_id> list;
  for (auto const& [id, t] : all_)
    if (t.waits) list.push_back(id);
  return list;
}

}  // namespace skel::role
