// What the ledger has to give, and who gets how much of it when.
#include <algorithm>
#include <ranges>
#include <utility>

#include "farm/role/ledger.hpp"
#include "role/deal.hpp"

namespace skel::role {

namespace {
// What "every task" means when tasks are dealt before anything is known about them.
constexpr std::uint64_t push_grain = 1;
}  // namespace

int ledger::all_threads() const {
  int n = 0;
  for (auto const& p : peers_)
    if (p.computes && p.alive) n += std::max(1, p.threads);
  return n;
}

// Whether the window allows task `id` to be given out.
bool ledger::room(task_id id) const {
  if (config_.window == 0) return true;
  return config_.ordered ? id < sink_next_ + config_.window : open() < config_.window;
}

// Tasks that were given and whose results the sink has not had. What was restored went to the sink first.
std::uint64_t ledger::open() const {
  return available_ - restored_here_ - pooled_ - (sunk_ - std::min(sunk_, restored_));
}

void ledger::add_to_pool(range_list const& fresh) {
  for (auto const& r : fresh) {
    if (!pool_.empty() && pool_.back().stride == 1 && r.stride == 1 && pool_.back().last() + 1 == r.first)
      pool_.back().count += r.count;
    else
      pool_.push_back(r);
    pooled_ += r.count;
  }
}

// The pool never holds a task twice, nor one that is recorded: the window is counted by what is not in it.
void ledger::put_back(range_list const& ranges) {
  for (auto const& r : std::ranges::reverse_view(ranges)) {
    pool_.push_front(r);  // what was given before comes first: an ordered sink waits for it
    pooled_ += r.count;
  }
  handed_out_again_ += count_tasks(ranges);
}

// A task that was given up has come back from whom it had been given to, before somebody else got it.
void ledger::take_from_pool(task_range const& recorded) {
  if (handed_out_again_ == 0) return;
  auto const apart = [&](task_range const& r) {
    return r.last() < recorded.first || r.first > recorded.last();
  };
  if (std::all_of(pool_.begin(), pool_.end(), apart)) return;
  range_list left;
  for (auto const& r : pool_) {
    if (apart(r)) {
      left.push_back(r);
      continue;
    }
    for (std::uint64_t i = 0; i < r.count; ++i)
      if (!recorded_.contains(r[i])) append(left, {r[i], 1, 1});
  }
  pool_.assign(left.begin(), left.end());
  pooled_ = count_tasks(left);
}

void ledger::give(std::size_t index, std::uint64_t n, actions& out) {
  // A rank that was given up may still hold what it is now given a second time: it looks if extra says so.
  message grant{.kind = message_kind::grant, .extra = handed_out_again_ > 0 ? may_be_held : 0};
  while (n > 0 && !pool_.empty() && room(pool_.front().first)) {
    std::uint64_t most = n;
    auto const stride = pool_.front().stride;
    if (config_.window > 0 && config_.ordered)
      most = std::min(most, (sink_next_ + config_.window - pool_.front().first + stride - 1) / stride);
    if (config_.window > 0 && !config_.ordered) most = std::min(most, config_.window - open());
    auto const range = pool_.front().take_front(most);
    if (pool_.front().empty()) pool_.pop_front();
    n -= range.count;
    pooled_ -= range.count;
    given_ += range.count;
    if (stock_round_) claimed_.insert(range);  // given after its new owner may have been counted
    append(grant.ranges, range);
  }
  if (grant.ranges.empty()) return;
  peers_[index].waiting = false;
  expect(index, grant.ranges);
  out.push_back(send{config_.ranks[index], std::move(grant)});
}

// Only while the root works and asks: it takes what is held back for it.
bool ledger::keeps_for_root(std::size_t index) {
  if (!held_back_ || config_.ranks[index] == config_.root || pool_.empty()) return false;
  auto const* const root = find(config_.root);
  return root->computes && !root->closed && room(pool_.front().first);
}

std::uint64_t ledger::grant_for(std::size_t index) {
  auto& p = peers_[index];
  std::uint64_t n = next_grant(config_.policy, pooled_, p.wanted, p.threads, all_threads());
  if (config_.policy.size == grant_size::shrinking && config_.first_grant > 0 &&
      config_.ranks[index] != config_.root && p.grants < 16)
    n = std::min(n, std::max(p.wanted, config_.first_grant << (2 * p.grants)));
  ++p.grants;
  return n;
}

void ledger::serve(std::size_t index, actions& out) {
  auto& p = peers_[index];
  if (!p.waiting || !p.alive || stopping_ || !dealt_ || keeps_for_root(index)) return;
  if (!pool_.empty()) {
    give(index, grant_for(index), out);
    if (held_back_ && pool_.empty()) serve_waiting(out);  // nothing is left to wait for
  } else if (source_ended_ && !stock_round_) {
    p.waiting = false;
    p.closed = true;
    out.push_back(send{config_.ranks[index], {.kind = message_kind::nothing}});
  }
}

void ledger::serve_waiting(actions& out) {
  for (std::size_t i = 0; i < peers_.size(); ++i) serve(i, out);
}

// Work that comes back after workers were told that there is nothing more (or that never ask) is dealt evenly
// to those that live.
void ledger::push_to_closed(actions& out) {
  if (stopping_) return;
  auto const takes = [](peer const& p) { return p.computes && p.alive && p.closed && p.hello; };
  std::size_t const n = peers_.size();
  if (config_.policy.after_loss == takeover::predecessor && last_lost_) {
    // "P_i can replace P_i+1": whoever comes before it on the ring has the others steal from it.
    for (std::size_t back = 1; back < n; ++back)
      if (std::size_t const i = (*last_lost_ + n - back) % n; takes(peers_[i])) {
        give(i, pooled_, out);
        return;
      }
  }
  std::uint64_t takers = 0;
  for (auto const& p : peers_) takers += takes(p) ? 1 : 0;
  for (std::size_t i = 0; i < n && takers > 0 && !pool_.empty(); ++i) {
    if (!takes(peers_[i])) continue;
    give(i, std::max(push_grain, (pooled_ + takers - 1) / takers), out);
    --takers;
  }
}

}  // namespace skel::role
