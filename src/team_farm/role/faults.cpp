#include "faults.hpp"

#include <algorithm>

#include "protocol/suspects.hpp"

namespace skel::role {

bool task_faults::lost(task_id task, std::uint64_t wanted, std::vector<rank_id> ranks,
                       membership const& lost) {
  auto& all = losses_[task];
  if (!ranks.empty()) all.push_back(std::move(ranks));
  if (!loses_too_often(task, lost)) return true;
  accused_[task] = {wanted, 0};
  return false;
}

std::vector<std::pair<task_id, std::uint64_t>> task_faults::heard(rank_id rank, membership const& lost) {
  for (auto& [task, jobs] : losses_) {
    for (auto& ranks : jobs) std::erase(ranks, rank);
    std::erase_if(jobs, [](auto const& ranks) { return ranks.empty(); });
  }
  std::vector<std::pair<task_id, std::uint64_t>> again;
  std::erase_if(accused_, [&](auto const& a) {
    if (loses_too_often(a.first, lost)) return false;
    again.emplace_back(a.first, a.second.wanted);
    return true;
  });
  return again;
}

bool task_faults::loses_too_often(task_id task, membership const& lost) const {
  std::uint64_t halves = 0;
  for (auto const& ranks : losses_.at(task))
    halves +=
        std::all_of(ranks.begin(), ranks.end(), [&](rank_id r) { return lost.is_from_outside(r); }) ? 1 : 2;
  return most_losses_ > 0 && halves >= std::uint64_t{2} * most_losses_;
}

std::optional<blamed> task_faults::tick() {
  std::optional<task_id> guilty;
  for (auto& [task, a] : accused_)
    if (++a.ticks >= blame_patience && !guilty) guilty = task;
  if (!guilty) return std::nullopt;
  accused_.erase(*guilty);
  blamed b{*guilty};
  for (auto const& ranks : losses_[*guilty]) b.ranks.insert(b.ranks.end(), ranks.begin(), ranks.end());
  losses_.erase(*guilty);
  return b;
}

void task_faults::settle(task_id task) {
  losses_.erase(task);
  failures_.erase(task);
  accused_.erase(task);
}

}  // namespace skel::role
