#include "farm/role/dealer.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "protocol/deal.hpp"

namespace skel::role {

namespace {

// Grants after which the limit, which grows fourfold each time, no longer applies.
constexpr unsigned limited_grants = 16;

// The rank's share, by speed, of half of the remaining tasks, so that a grant takes at most half of the
// remaining time. A rank of unknown speed gets the few tasks that it asks for, which cover a round trip.
std::uint64_t adaptive(double share, std::uint64_t wanted, task_pool const& pool) {
  auto const part = 0.5 * static_cast<double>(pool.tasks()) * share;
  return std::min(pool.tasks(), std::max(wanted, static_cast<std::uint64_t>(part)));
}

}  // namespace

// --- task_pool

void task_pool::add(range_list const& fresh) {
  for (auto const& r : fresh) {
    if (!ranges_.empty() && ranges_.back().stride == 1 && r.stride == 1 &&
        ranges_.back().last() + 1 == r.first)
      ranges_.back().count += r.count;
    else
      ranges_.push_back(r);
    tasks_ += r.count;
    added_ += r.count;
  }
}

void task_pool::put_back(range_list const& ranges) {
  for (auto const& r : std::ranges::reverse_view(ranges)) {
    ranges_.push_front(r);  // an ordered sink waits for the tasks given first
    tasks_ += r.count;
  }
}

void task_pool::remove(task_range const& range, task_set const& recorded) {
  auto const apart = [&](task_range const& r) { return r.last() < range.first || r.first > range.last(); };
  if (std::all_of(ranges_.begin(), ranges_.end(), apart)) return;
  range_list left;
  for (auto const& r : ranges_) {
    if (apart(r)) {
      left.push_back(r);
      continue;
    }
    for (std::uint64_t i = 0; i < r.count; ++i)
      if (!recorded.contains(r[i])) append(left, {r[i], 1, 1});
  }
  ranges_.assign(left.begin(), left.end());
  tasks_ = count_tasks(left);
}

std::uint64_t task_pool::take(std::uint64_t n, range_list& to) {
  std::uint64_t taken = 0;
  while (taken < n && !ranges_.empty()) {
    auto& front = ranges_.front();
    auto most = n - taken;
    if (window_ > 0) most = std::min(most, tasks_of_window(front));
    if (most == 0) break;
    auto const range = front.take_front(most);
    if (front.empty()) ranges_.pop_front();
    taken += range.count;
    tasks_ -= range.count;
    append(to, range);
  }
  return taken;
}

void task_pool::clear() {
  ranges_.clear();
  tasks_ = 0;
}

void task_pool::sunk(std::uint64_t count, task_id next) {
  sunk_ = count;
  sink_next_ = next;
}

// Returns the number of tasks given whose results the sink has not received. Restored results went to the
// sink first.
std::uint64_t task_pool::open() const { return added_ - tasks_ - (sunk_ - std::min(sunk_, restored_)); }

// Returns how many tasks of `next`, from the first one on, the window allows to give out.
std::uint64_t task_pool::tasks_of_window(task_range const& next) const {
  if (!ordered_) return window_ - std::min(window_, open());
  auto const end = sink_next_ + window_;
  return next.first >= end ? 0 : (end - next.first + next.stride - 1) / next.stride;
}

// --- grant_sizes

grant_sizes::grant_sizes(farm_root_config const& config)
    : policy_(config.policy),
      first_grant_(config.first_grant),
      root_(config.root),
      costs_(config.list.costs),
      costly_(config.list.costly),
      grants_(config.ranks) {}

std::vector<range_list> grant_sizes::shares(std::vector<rank_id> const& takers, range_list const& left,
                                            compute_ranks const& ranks) const {
  std::vector<range_list> shares;
  auto const all = count_tasks(left);
  auto const n = static_cast<int>(takers.size());
  auto const costs = costs_.known() ? costs_.of_these(left) : task_costs();
  if (policy_.start == schedule::start_with::weighted) {
    std::vector<double> power;
    for (rank_id const rank : takers) {
      auto const at = static_cast<std::size_t>(rank);
      double const chosen = at < policy_.power.size() ? policy_.power[at] : 0;
      double const measured = ranks.power(rank) > 0 ? ranks.power(rank) : 1.0;
      power.push_back(chosen > 0 ? chosen : measured * static_cast<double>(ranks.threads(rank)));
    }
    shares = weighted_shares(policy_.cut.of(all), power, costs);
  } else {
    for (int k = 0; k < n; ++k) shares.push_back(known_share(policy_, all, n, k, costs));
  }
  for (auto& s : shares) s = at_positions(left, s);
  return shares;
}

// A window has a place for each thread, and each rank has its part of the others: a rank that asks ahead must
// not take the place for which the thread of another one waits.
std::uint64_t grant_sizes::most(rank_id rank, std::uint64_t held, task_pool const& pool,
                                rank_loads const& loads, compute_ranks const& ranks) {
  if (pool.window() == 0) return pool.tasks();
  auto const own = ranks.threads(rank);
  auto const threads = static_cast<double>(std::max(1, ranks.all_threads()));
  auto const known = loads.share(rank, ranks.computing());
  auto const part = known > 0 ? known : static_cast<double>(own) / threads;
  auto const more = std::max(0.0, static_cast<double>(pool.window()) - threads) * part;
  auto const most = static_cast<std::uint64_t>(own) + static_cast<std::uint64_t>(more);
  return most > held ? std::min(most - held, pool.places()) : 0;
}

// Returns how many tasks cost no more than `n` tasks of the pool's average cost: fewer, if the most costly
// ones come first.
std::uint64_t grant_sizes::of_average_cost(std::uint64_t n, task_pool const& pool) const {
  double all = 0;
  for (auto const& r : pool.ranges()) all += costs_.of(r);
  double rest = all * static_cast<double>(n) / static_cast<double>(pool.tasks());
  std::uint64_t fitting = 0;
  for (auto const& r : pool.ranges()) {
    auto const these = costs_.fitting(r, rest);
    fitting += these;
    rest -= costs_.of({r.first, these, r.stride});
    if (these < r.count) break;
  }
  return std::min(n, fitting);
}

std::uint64_t grant_sizes::next(rank_id rank, std::uint64_t wanted, task_pool const& pool,
                                rank_loads const& loads, compute_ranks const& ranks) {
  bool const fixed = policy_.size == schedule::grant_size::fixed;
  auto n = policy_.size == schedule::grant_size::adaptive
               ? adaptive(loads.share(rank, ranks.computing()), wanted, pool)
               : next_grant(policy_, pool.tasks(), wanted, static_cast<int>(ranks.threads(rank)),
                            ranks.all_threads());
  if (pool.ranges().front().first < costly_)
    n = 1;
  else if (!fixed && costs_.known() && n > wanted)
    n = std::max(wanted, of_average_cost(n, pool));
  auto& grants = grants_[rank];
  if (!fixed && first_grant_ > 0 && rank != root_ && grants < limited_grants)
    n = std::min(n, std::max(wanted, first_grant_ << (2 * grants)));
  ++grants;
  return n;
}

// --- task_requests

std::optional<rank_id> task_requests::take_after(rank_id rank) {
  auto const at = queue_.upper_bound(rank);
  return at != queue_.end() ? std::optional(queue_.extract(at).value()) : std::nullopt;
}

std::uint64_t task_requests::wanted() const {
  std::uint64_t all = 0;
  for (rank_id const r : queue_)
    if (all_[r].waiting) all += all_[r].wanted;
  return all;
}

// --- farm_dealer

farm_dealer::farm_dealer(farm_root_config const& config, task_pool pool)
    : root_(config.root),
      after_loss_(config.policy.after_loss),
      ranks_(config.ranks, config.first_computing),
      requests_(config.ranks),
      loads_(config.ranks),
      pool_(std::move(pool)),
      sizes_(config) {
  auto const& list = config.list;
  bool const asks = asks_root(config.policy);
  for (rank_id r = config.first_computing; r < config.ranks && !asks; ++r) requests_.close(r);
  if (!list.tasks) return;
  dealt_ = config.policy.start != schedule::start_with::weighted && (asks || !list.resumed) && !list.recalled;
  if (dealt_ && !asks) given_ = *list.tasks;  // the ranks know their shares
}

// --- the ranks

bool farm_dealer::hello(rank_id rank, std::uint64_t threads, double power) {
  loads_.joins(rank, threads, power);
  return ranks_.hello(rank, threads, power);
}

void farm_dealer::lost(rank_id rank) {
  ranks_.lost(rank);
  requests_[rank].waiting = false;
  requests_[rank].held = 0;
  loads_.lost(rank);
  last_lost_ = rank;
}

void farm_dealer::dismiss(rank_id rank) {
  ranks_.computes(rank, false);
  requests_[rank].waiting = false;
  loads_.lost(rank);
}

bool farm_dealer::retires(rank_id rank, bool does, bool vacant) {
  if (!ranks_.retires(rank, does, vacant)) return false;
  requests_[rank].waiting = false;
  if (does)
    loads_.lost(rank);
  else
    loads_.joins(rank, ranks_.threads(rank), ranks_.power(rank));
  return true;
}

void farm_dealer::enlist_root(assignments& out) {
  if (stopped_ || ranks_.computing() > 0) return;
  ranks_.computes(root_, true);
  requests_.close(root_);
  out.push_back({root_, {}});
}

std::vector<rank_id> farm_dealer::takers_alone() const {
  bool others = false;
  for (rank_id r = 0; r < ranks_.ranks(); ++r) others = others || (ranks_.computes(r) && r != root_);
  std::vector<rank_id> takers;
  for (bool const waiting : {true, false})
    for (rank_id r = 0; r < ranks_.ranks(); ++r)
      if (ranks_.computes(r) && ranks_.said_hello(r) && requests_[r].waiting == waiting &&
          !(others && r == root_))
        takers.push_back(r);
  return takers;
}

// --- the first part

bool farm_dealer::may_deal() const { return !dealt_ && !stopped_ && ranks_.all_said_hello(); }

void farm_dealer::deal(range_list const& left, assignments& out) {
  std::vector<rank_id> takers;
  for (rank_id r = 0; r < ranks_.ranks(); ++r)
    if (ranks_.computes(r)) takers.push_back(r);
  dealt_ = true;
  auto shares = sizes_.shares(takers, left, ranks_);
  std::uint64_t dealt = 0;
  for (std::size_t k = 0; k < takers.size(); ++k) {
    auto const n = count_tasks(shares[k]);
    if (n == 0) continue;
    dealt += n;
    requests_[takers[k]].waiting = false;
    out.push_back({takers[k], std::move(shares[k])});
  }
  given_ += dealt;
  if (auto const all = count_tasks(left); dealt < all)
    pool_.add(at_positions(left, {{dealt, all - dealt, 1}}));
}

// --- on demand

void farm_dealer::give(rank_id rank, std::uint64_t n, assignments& out) {
  range_list tasks;
  auto const taken = pool_.take(n, tasks);
  if (taken == 0) return;
  given_ += taken;
  requests_[rank].waiting = false;
  requests_[rank].held += taken;
  loads_.granted(rank, taken);
  out.push_back({rank, std::move(tasks)});
}

void farm_dealer::finished(rank_id rank, std::uint64_t tasks) {
  auto& held = requests_[rank].held;
  held -= std::min(held, tasks);
  loads_.speeds().finished(rank, tasks);
}

// Tasks are kept for the root only while it computes and asks for them.
bool farm_dealer::must_wait(rank_id rank) const {
  if (pool_.empty()) return false;
  if (rank == root_) return root_rests_ && !held_back_;
  return held_back_ && ranks_.computes(root_) && !requests_[root_].closed && pool_.room();
}

void farm_dealer::serve(rank_id rank, bool last, assignments& out) {
  auto& r = requests_[rank];
  if (!r.waiting) return;
  bool const may = ranks_.computes(rank) && !stopped_ && dealt_ && !must_wait(rank);
  if (may && !pool_.empty()) {
    if (auto const most = grant_sizes::most(rank, r.held, pool_, loads_, ranks_); most > 0)
      give(rank, std::min(most, sizes_.next(rank, r.wanted, pool_, loads_, ranks_)), out);
    if ((held_back_ || root_rests_) && pool_.empty()) serve_all(last, out);  // no more tasks to wait for
  } else if (may && last) {
    r.waiting = false;
    requests_.close(rank);
    out.push_back({rank, {}});
  }
  if (r.waiting) requests_.wait(rank);
}

void farm_dealer::serve_all(bool last, assignments& out) {
  for (rank_id before = -1; pool_.empty() ? last : pool_.room();) {
    auto const rank = requests_.take_after(before);
    if (!rank) return;
    serve(*rank, last, out);
    before = *rank;
  }
}

void farm_dealer::push(assignments& out) {
  if (stopped_ || !requests_.any_closed() || pool_.empty()) return;
  auto const takes = [this](rank_id r) {
    return ranks_.computes(r) && requests_[r].closed && ranks_.said_hello(r);
  };
  rank_id const n = ranks_.ranks();
  if (after_loss_ == schedule::takeover::predecessor && last_lost_) {
    // "P_i can replace P_i+1": the others steal from the rank before it on the ring.
    for (rank_id back = 1; back < n; ++back)
      if (rank_id const rank = (*last_lost_ + n - back) % n; takes(rank)) {
        give(rank, pool_.tasks(), out);
        return;
      }
  }
  std::uint64_t takers = 0;
  for (rank_id rank = 0; rank < n; ++rank) takers += takes(rank) ? 1 : 0;
  for (rank_id rank = 0; rank < n && takers > 0 && !pool_.empty(); ++rank) {
    if (!takes(rank)) continue;
    give(rank, (pool_.tasks() + takers - 1) / takers, out);
    --takers;
  }
}

void farm_dealer::stop() {
  stopped_ = true;
  pool_.clear();
}

}  // namespace skel::role
