#include "farm/role/dealer.hpp"

#include <algorithm>
#include <utility>

#include "protocol/deal.hpp"

namespace skel::role {

farm_dealer::farm_dealer(farm_root_config const& config, task_pool pool)
    : root_(config.root),
      after_loss_(config.policy.after_loss),
      ranks_(config.ranks, config.first_worker),
      requests_(config.ranks),
      loads_(config.ranks),
      pool_(std::move(pool)),
      sizes_(config) {
  auto const& list = config.list;
  bool const asks = asks_root(config.policy);
  for (rank_id r = config.first_worker; r < config.ranks && !asks; ++r) close(r);
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

void farm_dealer::asks(rank_id rank, std::uint64_t n) {
  auto& r = requests_[rank];
  if (r.waiting) return;
  r.waiting = true;
  r.wanted = n;
}

std::uint64_t farm_dealer::wanted() const {
  std::uint64_t all = 0;
  for (rank_id const r : queue_)
    if (requests_[r].waiting) all += requests_[r].wanted;
  return all;
}

void farm_dealer::enlist_root(assignments& out) {
  if (stopped_ || ranks_.computing() > 0) return;
  ranks_.computes(root_, true);
  close(root_);
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
  return held_back_ && ranks_.computes(root_) && !closed(root_) && pool_.room();
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
    close(rank);
    out.push_back({rank, {}});
  }
  if (r.waiting) queue_.insert(rank);
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
  auto const takes = [this](rank_id r) { return ranks_.computes(r) && closed(r) && ranks_.said_hello(r); };
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
