#include "deal.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace skel {

farm_policy for_stream(farm_policy policy) {
  if (policy.more == schedule::more_from::ring) {
    policy.start = schedule::start_with::nothing;
    policy.size = schedule::grant_size::shrinking;
  }
  return policy;
}

task_range contiguous_share(std::uint64_t tasks, int workers, int index) {
  auto const n = static_cast<std::uint64_t>(workers);
  auto const i = static_cast<std::uint64_t>(index);
  std::uint64_t const part = tasks / n;
  std::uint64_t const longer = tasks % n;  // the first `longer` workers get one task more
  return {i * part + std::min(i, longer), part + (i < longer ? 1 : 0), 1};
}

task_range contiguous_share(std::uint64_t tasks, int workers, int index, task_costs const& costs) {
  if (!costs.known()) return contiguous_share(tasks, workers, index);
  task_range rest{0, tasks, 1}, share;
  for (int left = workers; left >= workers - index; --left) {
    auto const fair = costs.fitting(rest, costs.of(rest) / left);
    share = rest.take_front(left == 1 ? rest.count : std::max<std::uint64_t>(1, fair));
  }
  return share;
}

task_range interleaved_share(std::uint64_t tasks, int workers, int index) {
  auto const n = static_cast<std::uint64_t>(workers);
  auto const i = static_cast<std::uint64_t>(index);
  return {i, i < tasks ? (tasks - i + n - 1) / n : 0, n};
}

range_list known_share(farm_policy const& policy, std::uint64_t tasks, int workers, int index,
                       task_costs const& costs) {
  if (policy.start == schedule::start_with::contiguous)
    return {contiguous_share(tasks, workers, index, costs)};
  if (policy.start == schedule::start_with::interleaved) return {interleaved_share(tasks, workers, index)};
  return {};
}

range_list at_positions(range_list const& all, range_list const& positions) {
  range_list chosen;
  for (auto const& p : positions) {
    std::uint64_t before = 0;  // tasks in the preceding ranges
    std::size_t k = 0;
    for (std::uint64_t i = 0; i < p.count;) {
      while (p[i] - before >= all[k].count) before += all[k++].count;
      auto const within = p[i] - before;
      auto const n = std::min(p.count - i, (all[k].count - within + p.stride - 1) / p.stride);
      append(chosen, {all[k][within], n, all[k].stride * p.stride});
      i += n;
    }
  }
  return chosen;
}

std::vector<range_list> weighted_shares(std::uint64_t tasks, std::span<double const> power,
                                        task_costs const& costs) {
  std::vector<range_list> shares(power.size());
  // (virtual time of the next turn, worker, cost of its tasks so far): the earliest turn gets the next task
  using turn = std::tuple<double, std::size_t, double>;
  std::priority_queue<turn, std::vector<turn>, std::greater<>> turns;
  for (std::size_t w = 0; w < power.size(); ++w) turns.emplace(0.0, w, 0.0);
  for (task_id id = 0; id < tasks; ++id) {
    auto const [time, worker, had] = turns.top();
    turns.pop();
    append(shares[worker], {id, 1, 1});
    double const cost = had + costs.of({id, 1, 1});
    turns.emplace(cost / power[worker], worker, cost);
  }
  return shares;
}

std::uint64_t next_grant(farm_policy const& policy, std::uint64_t remaining, std::uint64_t wanted,
                         int threads, int all_threads) {
  std::uint64_t n = 0;
  if (policy.size == schedule::grant_size::shrinking) {
    n = remaining * static_cast<std::uint64_t>(std::max(1, threads)) /
        (2 * static_cast<std::uint64_t>(std::max(1, all_threads)));
    n = std::max(n, policy.chunk);
  } else {
    std::uint64_t const chunks = std::max<std::uint64_t>(1, (wanted + policy.chunk - 1) / policy.chunk);
    n = chunks * policy.chunk;
  }
  return std::min(n, remaining);
}

}  // namespace skel
