#include "farm/role/held_tasks.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace skel::role {

namespace {

// Behind more tasks that wait for room, others do not begin either.
constexpr std::size_t most_aside = 1024;

template <class Ranges>
bool holds(Ranges const& list, task_id id) {
  return std::any_of(list.begin(), list.end(), [&](task_range const& r) { return r.contains(id); });
}

// Returns `list` without the tasks of `range`.
template <class Ranges>
range_list without(Ranges const& list, task_range const& range) {
  range_list left;
  for (auto const& r : list) {
    if (r.last() < range.first || r.first > range.last()) {
      append(left, r);
      continue;
    }
    for (std::uint64_t i = 0; i < r.count; ++i)
      if (!range.contains(r[i])) append(left, {r[i], 1, 1});
  }
  return left;
}

}  // namespace

void held_tasks::add(std::span<task_range const> ranges) {
  for (auto const& r : ranges) {
    if (r.empty()) continue;
    queue_.push_back(r);
    queued_ += r.count;
  }
}

range_list held_tasks::give_away(std::uint64_t n, schedule::steal_end from) {
  range_list given;
  queued_ -= n;
  queue_.insert(queue_.begin(), aside_.begin(), aside_.end());
  aside_.clear();
  bool const last = from == schedule::steal_end::last;
  while (n > 0) {
    auto& range = last ? queue_.back() : queue_.front();
    auto const part = last ? range.take_back(n) : range.take_front(n);
    if (range.empty()) queue_.erase(last ? std::prev(queue_.end()) : queue_.begin());
    n -= part.count;
    given.push_back(part);
  }
  if (last) std::reverse(given.begin(), given.end());
  return given;
}

void held_tasks::drop(task_range const& range) {
  auto const left = without(queue_, range);
  queue_.assign(left.begin(), left.end());
  auto const left_aside = without(aside_, range);
  aside_.assign(left_aside.begin(), left_aside.end());
  queued_ = count_tasks(left) + count_tasks(left_aside);
  if (!alone_.empty()) alone_ = without(alone_, range);
}

void held_tasks::drop_waiting() {
  queue_.clear();
  aside_.clear();
  queued_ = 0;
  alone_.clear();
}

void held_tasks::clear() {
  drop_waiting();
  done_.clear();
  done_count_ = 0;
}

std::optional<task_range> held_tasks::start(std::uint64_t limit) {
  if (!alone_.empty() && !full_) {
    auto const one = alone_.front().take_front(1);
    if (alone_.front().empty()) alone_.erase(alone_.begin());
    running_alone_.push_back(one);
    running_.push_back(one);
    return one;
  }
  bool const waited = !aside_.empty() && !full_;
  if (!waited && (queue_.empty() || aside_.size() >= most_aside)) return std::nullopt;
  auto& from = waited ? aside_ : queue_;
  auto const range = from.front().take_front(waited ? 1 : limit);
  if (from.front().empty()) from.pop_front();
  queued_ -= range.count;
  running_.push_back(range);
  return range;
}

void held_tasks::end_run(task_range const& range) {
  if (auto const at = std::find(running_.begin(), running_.end(), range); at != running_.end()) {
    running_.erase(at);
    return;
  }
  range_list left;
  for (auto const& r : running_) {
    bool const holds =
        range.first >= r.first && range.last() <= r.last() && (range.first - r.first) % r.stride == 0;
    if (!holds || (range.count > 1 && range.stride != r.stride)) {
      left.push_back(r);
      continue;
    }
    task_range rest = r;
    task_range const before = rest.take_front((range.first - r.first) / r.stride);
    rest.take_front(range.count);
    if (!before.empty()) left.push_back(before);
    if (!rest.empty()) left.push_back(rest);
  }
  running_ = std::move(left);
}

bool held_tasks::finish(task_range const& range) {
  append(done_, range);
  done_count_ += range.count;
  return std::erase(running_alone_, range) > 0;
}

void held_tasks::fail(task_id id) {
  task_range const task{id, 1, 1};
  end_run(task);
  std::erase(running_alone_, task);
}

void held_tasks::put_aside(task_id id) {
  task_range const task{id, 1, 1};
  end_run(task);
  full_ = true;
  if (std::erase(running_alone_, task) > 0) {
    alone_.insert(alone_.begin(), task);
    return;
  }
  ++queued_;
  aside_.insert(std::find_if(aside_.begin(), aside_.end(), [&](auto const& r) { return r.first > id; }),
                task);
}

bool held_tasks::runs_alone(task_range const& running) const {
  return std::find(running_alone_.begin(), running_alone_.end(), running) != running_alone_.end();
}

range_list held_tasks::take_done() {
  done_count_ = 0;
  return std::exchange(done_, {});
}

range_list held_tasks::not_held(std::span<task_range const> ranges) const {
  range_list fresh;
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i)
      if (!holds(queue_, r[i]) && !holds(alone_, r[i]) && !holds(aside_, r[i]) && !holds(running_, r[i]) &&
          !holds(done_, r[i]))
        append(fresh, {r[i], 1, 1});
  return fresh;
}

range_list held_tasks::all() const {
  range_list list(queue_.begin(), queue_.end());
  list.insert(list.end(), aside_.begin(), aside_.end());
  for (auto const* part : {&alone_, &running_, &done_}) list.insert(list.end(), part->begin(), part->end());
  return list;
}

}  // namespace skel::role
