#include "ranks.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

namespace {
// Ticks for which the first teams wait for ranks that have not come.
constexpr unsigned longest_wait = 2;
}  // namespace

team_ranks::team_ranks(rank_id ranks, rank_id root, rank_id first_computing, std::vector<std::uint64_t> hosts)
    : root_(root), first_computing_(first_computing), hosts_(std::move(hosts)), all_(ranks) {
  count_able();
}

void team_ranks::hello(rank_id rank) {
  all_[rank].hello = true;
  update_free(rank);
}

bool team_ranks::lost(rank_id rank) {
  if (!lost_.lost(rank)) return false;
  all_[rank].hello = false;
  update_free(rank);
  count_able();
  return true;
}

bool team_ranks::heard(rank_id rank) {
  if (!lost_.heard(rank)) return false;
  count_able();
  return true;
}

void team_ranks::retires(rank_id rank, std::uint64_t number) {
  all_[rank].retires = number;
  update_free(rank);
  count_able();
}

// Before its team has ended, the others would take its end for the loss of a rank that they still need.
void team_ranks::let_go(std::vector<rank_id> const& ranks, team_actions& out) const {
  for (rank_id const r : ranks)
    if (auto const& m = all_[r]; m.leaves() && !m.inside && !m.held)
      out.push_back(role::team::send{r, role::team::released{m.retires}});
}

bool team_ranks::here() {
  if (all_here_ || ticks_ >= longest_wait) return true;
  for (rank_id r = first_computing_; r < all_.ranks(); ++r)
    if (!lost_.is_lost(r) && !all_[r].hello) return false;
  return all_here_ = true;
}

bool team_ranks::tick() { return !all_here_ && ++ticks_ == longest_wait; }

void team_ranks::count_able() {
  std::set<rank_id> able;
  for (rank_id r = first_computing_; r < all_.ranks(); ++r)
    if (!lost_.is_lost(r) && !all_[r].leaves()) able.insert(able.end(), r);
  able_ = most_together(able);
  if (able_ > 0) return;
  able_ = 1;
  enlisted_ = true;
  update_free(root_);
}

std::size_t team_ranks::most_together(std::set<rank_id> const& ranks) const {
  std::map<std::uint64_t, std::size_t> on_host;
  std::size_t most = 0;
  for (rank_id const r : ranks) most = std::max(most, ++on_host[host(r)]);
  return most;
}

void team_ranks::update_free(rank_id rank) {
  auto const& m = all_[rank];
  bool const computes = rank >= first_computing_ || (enlisted_ && rank == root_);
  if (!lost_.is_lost(rank) && m.hello && computes && !m.inside && !m.held && !m.leaves())
    free_.insert(rank);
  else
    free_.erase(rank);
}

team_ranks::team team_ranks::take(std::size_t size, job_id job) {
  std::vector<rank_id> all(free_.begin(), free_.end());
  std::stable_sort(all.begin(), all.end(), [this](rank_id a, rank_id b) { return host(a) < host(b); });
  // Ranks on two hosts are farther apart than any on one.
  auto const distance = [&](std::size_t i) {
    auto const a = all[i], b = all[i + size - 1];
    return std::pair(host(a) != host(b), b - a);
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i + size <= all.size(); ++i)
    if (distance(i) < distance(best)) best = i;
  auto const first = all.begin() + static_cast<std::ptrdiff_t>(best);
  team t{job, {first, first + static_cast<std::ptrdiff_t>(size)}};
  auto const old = teams_.find(all_[t.ranks.front()].team);
  if (old != teams_.end() && old->second == t.ranks) t.formed = old->first;
  for (rank_id const r : t.ranks) {
    auto& who = all_[r];
    if (who.team != t.formed) teams_.erase(who.team);
    who.team = t.formed;
    who.inside = who.held = job;
    free_.erase(r);
  }
  if (t.formed == job) teams_[job] = t.ranks;
  return t;
}

bool team_ranks::left(rank_id rank, job_id job) {
  auto& who = all_[rank];
  if (who.inside != job) return false;
  who.inside.reset();
  update_free(rank);
  return true;
}

void team_ranks::release(std::vector<rank_id> const& members) {
  for (rank_id const r : members) {
    all_[r].held.reset();
    update_free(r);
  }
}

void team_ranks::part(std::vector<rank_id> const& members) {
  for (rank_id const r : members) teams_.erase(all_[r].team);
}

}  // namespace skel::role
