#include "farm/role/begun_tasks.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

bool any_contains(range_list const& ranges, task_id id) {
  return std::any_of(ranges.begin(), ranges.end(), [&](auto const& r) { return r.contains(id); });
}

void begun_tasks::given(rank_id rank, std::size_t threads, range_list const& tasks, double t, bool copy) {
  auto& running = ranks_[rank];
  for (auto const& r : tasks)
    for (std::uint64_t i = 0; i < r.count && running.size() < threads; ++i)
      running.push_back({.tasks = {r[i], 1, 1}, .since = t, .copy = copy});
}

void begun_tasks::results(rank_id rank, std::size_t threads, range_list const& done, range_list const& begun,
                          double t) {
  auto& running = ranks_[rank];
  // A thread's range is done when its last task is.
  std::erase_if(running, [&](auto const& b) { return any_contains(done, b.tasks.last()); });
  for (auto const& r : begun) running.push_back({r, t});
  keep_latest(rank, threads);
}

void begun_tasks::all(rank_id rank, std::size_t threads, range_list const& running, double t) {
  auto const before = std::exchange(ranks_[rank], {});
  for (auto const& r : running) {
    auto const at =
        std::find_if(before.begin(), before.end(), [&](auto const& b) { return b.tasks.last() == r.last(); });
    ranks_[rank].push_back(at == before.end() ? begun_range{.since = t} : *at);
    ranks_[rank].back().tasks = r;
  }
  keep_latest(rank, threads);
}

// Ranges older than the latest one of each thread are finished, or were guesses.
void begun_tasks::keep_latest(rank_id rank, std::size_t threads) {
  auto& running = ranks_[rank];
  if (auto const n = running.size(); n > threads)
    running.erase(running.begin(), running.begin() + static_cast<std::ptrdiff_t>(n - threads));
}

range_list begun_tasks::take(rank_id rank) {
  for (rank_id r = 0; r < ranks_.ranks(); ++r)
    for (auto& b : ranks_[r])
      if (b.copier == rank) b.copier.reset();
  range_list tasks;
  for (auto const& b : std::exchange(ranks_[rank], {})) tasks.push_back(b.tasks);
  return tasks;
}

}  // namespace skel::role
