#include "farm/role/begun_tasks.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

bool any_contains(range_list const& ranges, task_id id) {
  return std::any_of(ranges.begin(), ranges.end(), [&](auto const& r) { return r.contains(id); });
}

void begun_tasks::given(std::size_t index, std::size_t threads, range_list const& tasks) {
  auto& running = ranks_[index];
  for (auto const& r : tasks)
    for (std::uint64_t i = 0; i < r.count && running.size() < threads; ++i) running.push_back({r[i], 1, 1});
}

void begun_tasks::results(std::size_t index, std::size_t threads, range_list const& done,
                          range_list const& begun) {
  // A thread's range is done when its last task is.
  std::erase_if(ranks_[index], [&](auto const& r) { return any_contains(done, r.last()); });
  if (!begun.empty()) add(index, threads, begun);
}

void begun_tasks::all(std::size_t index, std::size_t threads, range_list const& running) {
  ranks_[index].clear();
  add(index, threads, running);
}

// Ranges older than the latest one of each thread are finished, or were guesses.
void begun_tasks::add(std::size_t index, std::size_t threads, range_list const& begun) {
  auto& running = ranks_[index];
  running.insert(running.end(), begun.begin(), begun.end());
  if (auto const n = running.size(); n > threads)
    running.erase(running.begin(), running.begin() + static_cast<std::ptrdiff_t>(n - threads));
}

range_list begun_tasks::take(std::size_t index) { return std::exchange(ranks_[index], {}); }

void begun_tasks::hash(digest& d) const {
  for (auto const& running : ranks_) d.add(running);
}

}  // namespace skel::role
