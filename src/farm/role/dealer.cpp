#include "farm/role/dealer.hpp"

#include <algorithm>
#include <utility>

#include "role/deal.hpp"

namespace skel::role {

namespace {
// Grants after which the limit, which grows fourfold each time, no longer applies.
constexpr unsigned limited_grants = 16;
}  // namespace

farm_dealer::farm_dealer(farm_policy policy, std::uint64_t first_grant, rank_id ranks, rank_id first_worker,
                         rank_id root, task_pool pool, task_costs costs, std::uint64_t costly)
    : policy_(std::move(policy)),
      first_grant_(first_grant),
      root_(root),
      ranks_(ranks),
      loads_(ranks),
      pool_(std::move(pool)),
      costs_(std::move(costs)),
      costly_(costly) {
  bool const asks = asks_root(policy_);
  for (rank_id r = first_worker; r < ranks; ++r) {
    ranks_[r].computes = true;
    ranks_[r].closed = !asks;
    any_closed_ = any_closed_ || !asks;
    count(ranks_[r], 1);
  }
}

// --- the ranks

// Adds the rank to the sums over computing ranks, or (-1) removes it.
void farm_dealer::count(rank_state const& r, int sign) {
  if (!r.computes || !r.alive) return;
  computing_ += sign;
  threads_ += sign * r.threads;
}

bool farm_dealer::hello(rank_id rank, std::uint64_t threads, double power) {
  auto& r = ranks_[rank];
  count(r, -1);
  r.threads = static_cast<int>(std::max<std::uint64_t>(1, threads));
  count(r, 1);
  r.power = power;
  loads_.has_threads(rank, threads);
  return !std::exchange(r.hello, true);
}

void farm_dealer::heard(rank_id rank) {
  auto& r = ranks_[rank];
  if (r.alive) return;
  r.alive = true;
  count(r, 1);
}

void farm_dealer::lost(rank_id rank) {
  count(ranks_[rank], -1);
  ranks_[rank].alive = false;
  ranks_[rank].waiting = false;
  ranks_[rank].held = 0;
  loads_.lost(rank);
  last_lost_ = rank;
}

void farm_dealer::dismiss(rank_id rank) {
  count(ranks_[rank], -1);
  ranks_[rank].computes = false;
  ranks_[rank].waiting = false;
  loads_.lost(rank);
}

void farm_dealer::asks(rank_id rank, std::uint64_t n) {
  auto& r = ranks_[rank];
  if (r.waiting) return;
  r.waiting = true;
  r.wanted = n;
}

void farm_dealer::enlist_root(assignments& out) {
  if (stopped_ || computing_ > 0) return;
  ranks_[root_].computes = true;
  count(ranks_[root_], 1);
  ranks_[root_].closed = any_closed_ = true;
  out.push_back({root_, {}});
}

std::vector<rank_id> farm_dealer::takers_alone() const {
  bool others = false;
  for (rank_id r = 0; r < ranks_.ranks(); ++r) others = others || (computes(r) && r != root_);
  std::vector<rank_id> takers;
  for (bool const waiting : {true, false})
    for (rank_id r = 0; r < ranks_.ranks(); ++r)
      if (computes(r) && ranks_[r].hello && ranks_[r].waiting == waiting && !(others && r == root_))
        takers.push_back(r);
  return takers;
}

// --- the first part

bool farm_dealer::may_deal() const {
  if (dealt_ || stopped_) return false;
  bool any = false;
  for (auto const& r : ranks_) {
    if (!r.computes || !r.alive) continue;
    if (!r.hello) return false;
    any = true;
  }
  return any;
}

void farm_dealer::deal(range_list const& left, assignments& out) {
  std::vector<rank_id> takers;
  for (rank_id r = 0; r < ranks_.ranks(); ++r)
    if (computes(r)) takers.push_back(r);
  dealt_ = true;
  auto const all = count_tasks(left);
  auto const cut = policy_.start == schedule::start_with::weighted ? policy_.cut.of(all) : all;
  auto shares = shares_of(takers, left, cut);
  for (std::size_t k = 0; k < takers.size(); ++k) {
    auto const n = count_tasks(shares[k]);
    if (n == 0) continue;
    given_ += n;
    ranks_[takers[k]].waiting = false;
    out.push_back({takers[k], std::move(shares[k])});
  }
  if (cut < all) pool_.add(at_positions(left, {{cut, all - cut, 1}}));
}

// Returns one list per taker: its part of the first `cut` tasks of `left`.
std::vector<range_list> farm_dealer::shares_of(std::vector<rank_id> const& takers, range_list const& left,
                                               std::uint64_t cut) const {
  std::vector<range_list> shares;
  auto const n = static_cast<int>(takers.size());
  auto const costs = costs_.known() ? costs_.of_these(left) : task_costs();
  if (policy_.start == schedule::start_with::weighted) {
    std::vector<double> power;
    for (rank_id const rank : takers) {
      auto const& r = ranks_[rank];
      auto const at = static_cast<std::size_t>(rank);
      double const chosen = at < policy_.power.size() ? policy_.power[at] : 0;
      double const measured = r.power > 0 ? r.power : 1.0;
      power.push_back(chosen > 0 ? chosen : measured * std::max(1, r.threads));
    }
    shares = weighted_shares(cut, power, costs);
  } else {
    for (int k = 0; k < n; ++k) shares.push_back(known_share(policy_, cut, n, k, costs));
  }
  for (auto& s : shares) s = at_positions(left, s);
  return shares;
}

// --- on demand

void farm_dealer::give(rank_id rank, std::uint64_t n, assignments& out) {
  range_list tasks;
  auto const taken = pool_.take(n, tasks);
  if (taken == 0) return;
  given_ += taken;
  ranks_[rank].waiting = false;
  ranks_[rank].held += taken;
  loads_.granted(rank, taken);
  out.push_back({rank, std::move(tasks)});
}

void farm_dealer::finished(rank_id rank, std::uint64_t tasks) {
  auto& held = ranks_[rank].held;
  held -= std::min(held, tasks);
  loads_.finished(rank, tasks);
}

// A window has a place for each thread, and each rank has its part of the others: a rank that asks ahead must
// not take the place for which the thread of another one waits.
std::uint64_t farm_dealer::most_for(rank_id rank) const {
  if (pool_.window() == 0) return pool_.tasks();
  auto const& r = ranks_[rank];
  auto const threads = static_cast<double>(std::max(1, threads_));
  auto const known = loads_.share(rank, static_cast<std::size_t>(computing_));
  auto const part = known > 0 ? known : static_cast<double>(r.threads) / threads;
  auto const more = std::max(0.0, static_cast<double>(pool_.window()) - threads) * part;
  auto const most = static_cast<std::uint64_t>(r.threads) + static_cast<std::uint64_t>(more);
  return most > r.held ? std::min(most - r.held, pool_.places()) : 0;
}

// Only while the root computes and asks: it takes the tasks that are kept for it.
bool farm_dealer::keeps_for_root(rank_id rank) const {
  if (!held_back_ || rank == root_ || pool_.empty()) return false;
  return ranks_[root_].computes && !ranks_[root_].closed && pool_.room();
}

// Grants the rank's share, by speed, of half of the remaining tasks, so that a grant takes at most half of
// the remaining time. A rank of unknown speed gets the few tasks that it asks for, which cover a round trip.
std::uint64_t farm_dealer::adaptive_grant(rank_id rank) const {
  auto const part =
      0.5 * static_cast<double>(pool_.tasks()) * loads_.share(rank, static_cast<std::size_t>(computing_));
  return std::min(pool_.tasks(), std::max(ranks_[rank].wanted, static_cast<std::uint64_t>(part)));
}

// Returns how many tasks cost no more than `n` tasks of the pool's average cost: fewer, if the most costly
// ones come first.
std::uint64_t farm_dealer::of_average_cost(std::uint64_t n) const {
  double all = 0;
  for (auto const& r : pool_.ranges()) all += costs_.of(r);
  double rest = all * static_cast<double>(n) / static_cast<double>(pool_.tasks());
  std::uint64_t fitting = 0;
  for (auto const& r : pool_.ranges()) {
    auto const these = costs_.fitting(r, rest);
    fitting += these;
    rest -= costs_.of({r.first, these, r.stride});
    if (these < r.count) break;
  }
  return std::min(n, fitting);
}

std::uint64_t farm_dealer::grant_for(rank_id rank) {
  auto& r = ranks_[rank];
  std::uint64_t n = policy_.size == schedule::grant_size::adaptive
                        ? adaptive_grant(rank)
                        : next_grant(policy_, pool_.tasks(), r.wanted, r.threads, threads_);
  if (pool_.ranges().front().first < costly_)
    n = 1;
  else if (policy_.size != schedule::grant_size::fixed && costs_.known() && n > r.wanted)
    n = std::max(r.wanted, of_average_cost(n));
  if (policy_.size != schedule::grant_size::fixed && first_grant_ > 0 && rank != root_ &&
      r.grants < limited_grants)
    n = std::min(n, std::max(r.wanted, first_grant_ << (2 * r.grants)));
  ++r.grants;
  return n;
}

void farm_dealer::serve(rank_id rank, bool last, assignments& out) {
  serve_now(rank, last, out);
  if (ranks_[rank].waiting) queue_.insert(rank);
}

void farm_dealer::serve_now(rank_id rank, bool last, assignments& out) {
  auto& r = ranks_[rank];
  if (!r.waiting || !r.alive || stopped_ || !dealt_ || keeps_for_root(rank)) return;
  if (!pool_.empty()) {
    auto const most = most_for(rank);
    if (most == 0) return;
    give(rank, std::min(most, grant_for(rank)), out);
    if (held_back_ && pool_.empty()) serve_all(last, out);  // no more tasks to wait for
  } else if (last) {
    r.waiting = false;
    r.closed = any_closed_ = true;
    out.push_back({rank, {}});
  }
}

void farm_dealer::serve_all(bool last, assignments& out) {
  rank_id rank = 0;
  for (auto at = queue_.begin(); at != queue_.end() && (pool_.empty() ? last : pool_.room());
       at = queue_.upper_bound(rank)) {
    rank = *at;
    queue_.erase(at);
    serve(rank, last, out);
  }
}

void farm_dealer::push(assignments& out) {
  if (stopped_ || !any_closed_ || pool_.empty()) return;
  auto const takes = [](rank_state const& r) { return r.computes && r.alive && r.closed && r.hello; };
  rank_id const n = ranks_.ranks();
  if (policy_.after_loss == schedule::takeover::predecessor && last_lost_) {
    // "P_i can replace P_i+1": the others steal from the rank before it on the ring.
    for (rank_id back = 1; back < n; ++back)
      if (rank_id const rank = (*last_lost_ + n - back) % n; takes(ranks_[rank])) {
        give(rank, pool_.tasks(), out);
        return;
      }
  }
  std::uint64_t takers = 0;
  for (auto const& r : ranks_) takers += takes(r) ? 1 : 0;
  for (rank_id rank = 0; rank < n && takers > 0 && !pool_.empty(); ++rank) {
    if (!takes(ranks_[rank])) continue;
    give(rank, (pool_.tasks() + takers - 1) / takers, out);
    --takers;
  }
}

void farm_dealer::stop() {
  stopped_ = true;
  pool_.clear();
}

void farm_dealer::hash(digest& d) const {
  pool_.hash(d);
  loads_.hash(d);
  d.add(dealt_)
      .add(given_)
      .add(held_back_)
      .add(stopped_)
      .add(static_cast<std::uint64_t>(last_lost_.value_or(-1)));
  for (auto const& r : ranks_)
    d.add(r.alive)
        .add(r.computes)
        .add(r.hello)
        .add(r.waiting)
        .add(r.closed)
        .add(r.wanted)
        .add(r.held)
        .add(r.grants);
}

}  // namespace skel::role
