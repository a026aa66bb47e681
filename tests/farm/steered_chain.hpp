// The state of a steered source whose calls show in which order it was asked and told.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "skel/steered.hpp"

namespace steered_test {

constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}
inline std::uint64_t result_of(std::uint64_t task) { return mix(task + 1); }

/// Every task depends on all calls before. Sometimes it has fewer tasks than asked for, or none now;
/// sometimes it cancels its latest open task.
struct chain {
  std::uint64_t limit = 0;  ///< tasks
  bool cancels = false;
  std::uint64_t stop_after = ~std::uint64_t{0};  ///< results

  std::uint64_t hash = 1, told = 0, most_open = 0, most_wanted = 0;
  std::vector<std::uint64_t> tasks{}, log{};
  std::set<std::uint64_t> open{}, cancelled{};

  std::optional<std::vector<std::uint64_t>> ask(std::uint64_t n) {
    most_wanted = std::max(most_wanted, n);
    if (tasks.size() >= limit) return std::nullopt;
    std::vector<std::uint64_t> fresh;
    auto const most = hash % 5 == 0 && !open.empty() ? 0 : hash % 3 == 0 ? (n + 1) / 2 : n;
    while (fresh.size() < most && tasks.size() < limit) {
      open.insert(tasks.size());
      tasks.push_back(mix(hash ^ tasks.size()));
      fresh.push_back(tasks.back());
    }
    most_open = std::max<std::uint64_t>(most_open, open.size());
    note(n), note(fresh.size());
    return fresh;
  }
  skel::results::flow tell(std::uint64_t id, std::uint64_t const& task, std::uint64_t const& result,
                           skel::steering& run) {
    if (tasks.at(id) != task) throw std::logic_error("another task than asked");
    if (result != result_of(task)) throw std::logic_error("a wrong result");
    if (open.erase(id) != 1)
      throw std::logic_error("task " + std::to_string(id) + " is told without being open");
    note(id), note(result);
    if (cancels && hash % 4 == 0 && !open.empty()) {
      cancelled.insert(*open.rbegin());
      run.cancel(*open.rbegin());
      open.erase(*open.rbegin());
    }
    return ++told == stop_after ? skel::results::flow::stop : skel::results::flow::go_on;
  }
  void note(std::uint64_t x) {
    log.push_back(x);
    hash = mix(hash ^ x);
  }
};

/// The chain as skel::reproducible promises to drive it, by the plainest loop.
inline chain driven(chain c, std::uint64_t window) {
  bool ended = false;
  auto const ask = [&] {
    if (!ended && c.open.size() < window) ended = !c.ask(window - c.open.size());
  };
  ask();
  while (!c.open.empty()) {
    auto const id = *c.open.begin();
    std::vector<std::uint64_t> cancelled;
    skel::steering run(cancelled);
    if (c.tell(id, c.tasks[id], result_of(c.tasks[id]), run) == skel::results::flow::stop) break;
    ask();
  }
  return c;
}

}  // namespace steered_test
