#include "farm/role/failed_tasks.hpp"

#include <algorithm>

#include "base/memory.hpp"

namespace skel::role {

namespace {

// Returns false if it is known.
template <class List, class Failure>
bool add_new(List& known, Failure const& one) {
  if (std::find(known.begin(), known.end(), one) != known.end()) return false;
  known.push_back(one);
  return true;
}

}  // namespace

bool failed_tasks::add(task_id task, rank_id rank, std::uint64_t nth) {
  return add_new(all_[task].failures, failure{rank, nth});
}

bool failed_tasks::refuse(task_id task, rank_id rank, std::uint64_t nth, task_room const& needs) {
  all_[task].needs = needs;
  return add_new(all_[task].refusals, failure{rank, nth});
}

bool failed_tasks::fits(task_id task, rank_id rank) const {
  auto const at = all_.find(task);
  return rooms_.empty() || at == all_.end() ||
         rooms_.at(static_cast<std::size_t>(rank)).fits(at->second.needs);
}

bool failed_tasks::fits_only(task_id task, rank_id rank, compute_ranks const& ranks) const {
  for (rank_id r = 0; r < ranks.ranks(); ++r)
    if (ranks.computes(r) && fits(task, r) != (r == rank)) return false;
  return true;
}

std::string failed_tasks::misfit(task_id task, compute_ranks const& ranks) const {
  task_room most;
  if (rooms_.empty() || ranks.computing() == 0) return {};
  for (rank_id r = 0; r < ranks.ranks(); ++r) {
    if (!ranks.computes(r)) continue;
    if (fits(task, r)) return {};
    auto const& room = rooms_.at(static_cast<std::size_t>(r));
    most = {std::max(most.memory, room.memory), std::max(most.threads, room.threads)};
  }
  auto const& needs = all_.at(task).needs;
  if (needs.threads > most.threads)
    return "it needs " + std::to_string(needs.threads) + " threads, but a rank has at most " +
           std::to_string(most.threads);
  if (needs.memory > most.memory)
    return "it needs " + detail::text_of_bytes(needs.memory) + " of memory, but a rank may use at most " +
           detail::text_of_bytes(most.memory);
  return "no rank has the memory, " + detail::text_of_bytes(needs.memory) + ", and the " +
         std::to_string(needs.threads) + " threads that it needs";
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
  auto const fresh = [&](rank_id rank) {
    return fits(task, rank) && (!elsewhere_ || !failed_on(task, rank));
  };
  auto takers = dealer.takers_alone();  // the root only if it is alone
  std::erase_if(takers, [&](rank_id rank) { return !fits(task, rank); });
  if (auto const at = std::find_if(takers.begin(), takers.end(), fresh); at != takers.end()) return *at;
  auto const& ranks = dealer.ranks();
  bool const root_takes = ranks.computes(root_) && ranks.said_hello(root_);
  if (root_takes && fresh(root_)) return root_;
  for (rank_id r = 0; r < ranks.ranks(); ++r)
    if (ranks.computes(r) && !ranks.said_hello(r) && fresh(r)) return std::nullopt;
  if (takers.empty()) return root_takes && fits(task, root_) ? std::optional(root_) : std::nullopt;
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
