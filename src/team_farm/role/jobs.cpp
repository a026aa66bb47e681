#include "jobs.hpp"

#include <algorithm>

namespace skel::role {

bool team_job::failed() const {
  return failure &&
         std::all_of(doubted.begin(), doubted.end(), [&](rank_id r) { return overran.contains(r); });
}

void team_jobs::give(task_id task, std::uint64_t wanted, std::size_t size, team_ranks& ranks,
                     team_actions& out) {
  auto team = ranks.take(size, ++last_);
  team::run m{last_, {task, 1, 1}, team.formed, {}};
  for (rank_id const r : team.ranks) append(m.ranks, {static_cast<std::uint64_t>(r), 1, 1});
  for (rank_id const r : team.ranks) out.push_back(team::send{r, m});
  auto& j = all_[last_];
  j.number = last_;
  j.task = task;
  j.wanted = wanted;
  j.inside = {team.ranks.begin(), team.ranks.end()};
  j.ranks = std::move(team.ranks);
}

team_job* team_jobs::find(rank_id rank, job_id number) {
  auto const at = all_.find(number);
  return at != all_.end() && at->second.inside.contains(rank) ? &at->second : nullptr;
}

std::optional<team_job> team_jobs::ended(rank_id rank, team_job& j, team::ended const& m, team_ranks& ranks,
                                         team_actions& out) {
  j.inside.erase(rank);
  if (m.lost) j.doubted.insert(*m.lost);
  if (m.failure)
    fail(rank, j, *m.failure, ranks, out);
  else if (m.cancelled)  // perhaps only this rank thinks that another one is lost, and the others wait for it
    cancel(j, rank, "rank " + std::to_string(rank) + " has left the task", ranks, out);
  else if (rank == j.ranks.front())
    j.has_result = true;
  return take_if_over(j);
}

std::optional<team_job> team_jobs::lost(rank_id rank, team_job& j, team_ranks& ranks, team_actions& out) {
  j.inside.erase(rank);
  j.doubted.insert(rank);
  j.lost.push_back(rank);
  cancel(j, rank, "lost rank " + std::to_string(rank) + " of the team", ranks, out);
  return take_if_over(j);
}

std::optional<team_job> team_jobs::take_if_over(team_job& j) {
  if (!j.inside.empty()) return std::nullopt;
  return std::move(all_.extract(j.number).mapped());
}

void team_jobs::fail(rank_id rank, team_job& j, std::string text, team_ranks& ranks, team_actions& out) {
  if (j.failure) return;
  auto const why = "the task failed on rank " + std::to_string(rank) + ": " + text;
  j.failure = {rank, std::move(text)};
  cancel(j, rank, why, ranks, out);
}

void team_jobs::cancel(team_job& j, rank_id because_of, std::string const& text, team_ranks& ranks,
                       team_actions& out) {
  if (std::exchange(j.cancelled, true)) return;
  ranks.part(j.ranks);
  for (rank_id const r : j.inside) out.push_back(team::send{r, team::cancel{j.number, because_of, text}});
}

void team_jobs::heard(rank_id rank) {
  for (auto& [number, j] : all_) std::erase(j.lost, rank);
}

}  // namespace skel::role
