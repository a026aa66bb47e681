#include "skel/team_size.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>

#include "base/format.hpp"
#include "skel/error.hpp"

namespace skel {

namespace {

// More are compared as a sample of this many, at equal distances in their order.
constexpr std::size_t most_deadlines = 48;

// Every size up to 16, then steps of about a fifth, and all ranks.
std::vector<int> sizes_to_try(int ranks) {
  std::vector<int> all;
  for (int n = 1; n < ranks; n += std::max(1, n / 6)) all.push_back(n);
  all.push_back(ranks);
  return all;
}

// The end of a list schedule as the root of a farm makes it: the largest teams first, among them the longest
// tasks. `size` and `seconds`: of each task.
double makespan(std::vector<int> const& size, std::vector<double> const& seconds, int ranks) {
  std::vector<std::size_t> order(size.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return size[a] != size[b] ? size[a] > size[b] : seconds[a] > seconds[b];
  });
  using end = std::pair<double, int>;  // when this number of ranks becomes free
  std::priority_queue<end, std::vector<end>, std::greater<>> running;
  double now = 0;
  int free = ranks;
  for (auto const task : order) {
    while (free < size[task]) {
      now = running.top().first;
      free += running.top().second;
      running.pop();
    }
    free -= size[task];
    running.emplace(now + seconds[task], size[task]);
  }
  while (!running.empty()) {
    now = running.top().first;
    running.pop();
  }
  return now;
}

class choice {
 public:
  choice(std::uint64_t tasks, int ranks, std::function<double(task_id, int)> const& seconds)
      : ranks_(ranks), sizes_(sizes_to_try(ranks)), tasks_(tasks), best_(tasks, 1) {
    for (std::uint64_t i = 0; i < tasks; ++i)
      for (int const n : sizes_) {
        double const s = seconds(i, n);
        if (!(s > 0 && std::isfinite(s)))
          throw usage_error(
              detail::format("team_size: task {} takes {} s on {} ranks, expected a positive time", i, s, n));
        seconds_.push_back(s);
      }
  }

  // Each task on the cheapest team that ends before a common deadline [Turek92], for the best of many
  // deadlines; or all on teams of one size.
  [[nodiscard]] std::vector<int> best() {
    for (double const deadline : deadlines()) try_out([&](std::size_t i) { return cheapest(i, deadline); });
    for (std::size_t k = 0; k < sizes_.size(); ++k) try_out([k](std::size_t) { return k; });
    return best_;
  }

 private:
  [[nodiscard]] double at(std::size_t task, std::size_t k) const {
    return seconds_[task * sizes_.size() + k];
  }

  [[nodiscard]] std::vector<double> deadlines() const {
    auto all = seconds_;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (all.size() <= most_deadlines) return all;
    std::vector<double> some;
    for (std::size_t k = 0; k < most_deadlines; ++k)
      some.push_back(all[k * (all.size() - 1) / (most_deadlines - 1)]);
    return some;
  }

  [[nodiscard]] std::size_t cheapest(std::size_t task, double deadline) const {
    auto const cost = [&](std::size_t k) { return at(task, k) * sizes_[k]; };
    std::size_t fastest = 0;
    std::optional<std::size_t> found;
    for (std::size_t k = 0; k < sizes_.size(); ++k) {
      if (at(task, k) < at(task, fastest)) fastest = k;
      if (at(task, k) <= deadline && (!found || cost(k) < cost(*found))) found = k;
    }
    return found.value_or(fastest);
  }

  template <class Pick>
  void try_out(Pick const& pick) {
    std::vector<int> size(tasks_);
    std::vector<double> seconds(tasks_);
    for (std::size_t i = 0; i < tasks_; ++i) {
      auto const k = pick(i);
      size[i] = sizes_[k];
      seconds[i] = at(i, k);
    }
    double const end = makespan(size, seconds, ranks_);
    if (end >= least_) return;
    least_ = end;
    best_ = std::move(size);
  }

  int ranks_;
  std::vector<int> sizes_;
  std::size_t tasks_;
  std::vector<double> seconds_;  // of each task, for each of sizes_
  double least_ = std::numeric_limits<double>::infinity();
  std::vector<int> best_;
};

}  // namespace

amdahl amdahl::through(int ranks_a, double seconds_a, int ranks_b, double seconds_b) {
  bool const good = ranks_a > 0 && ranks_b > 0 && ranks_a != ranks_b && seconds_a > 0 && seconds_b > 0 &&
                    std::isfinite(seconds_a) && std::isfinite(seconds_b);
  if (!good)
    throw usage_error(detail::format(
        "amdahl::through: expected positive times on two numbers of ranks, found {} s on {} and "
        "{} s on {}",
        seconds_a, ranks_a, seconds_b, ranks_b));
  double const a = 1.0 / ranks_a, b = 1.0 / ranks_b;
  double const parallel = std::max(0.0, (seconds_a - seconds_b) / (a - b));
  double const serial = seconds_a - parallel * a;
  if (serial < 0) return {0, std::min(seconds_a / a, seconds_b / b)};
  return {serial, parallel};
}

std::vector<int> team_size::sizes(task_id first, task_id last, int ranks) const {
  if (seconds_) return choice(last - first, ranks, seconds_).best();
  std::vector<int> all;
  all.reserve(last - first);
  for (task_id i = first; i < last; ++i) {
    int const n = of_ ? of_(i) : ranks_;
    if (n < 1)
      throw usage_error(detail::format("task {} wants a team of {} ranks, expected at least 1", i, n));
    all.push_back(n);
  }
  return all;
}

std::vector<double> team_size::seconds(std::vector<int> const& sizes) const {
  std::vector<double> all;
  if (!seconds_) return all;
  all.reserve(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) all.push_back(seconds_(i, sizes[i]));
  return all;
}

}  // namespace skel
