#include "skel/protocol/ledger.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "skel/protocol/digest.hpp"
#include "skel/schedule/deal.hpp"

namespace skel::protocol {

namespace {
// Ticks without movement after which stock is taken although nobody is known to be lost (a lossy wire), and
// after which `stop` is said again.
constexpr unsigned patience = 8;

// What "every task" means when tasks are dealt before anything is known about them.
constexpr std::uint64_t push_grain = 1;
}  // namespace

ledger::ledger(ledger_config config) : config_(std::move(config)), peers_(config_.ranks.size()) {
  bool const asks = asks_root(config_.policy);
  for (rank_id w : config_.workers)
    if (auto* p = find(w)) p->computes = true;
  for (auto& p : peers_) p.closed = p.computes && !asks;
  if (!config_.tasks) return;
  available_ = *config_.tasks;
  source_ended_ = true;
  if (!asks) {
    given_ = available_;  // every worker knows its share
  } else if (config_.policy.start == start_with::weighted) {
    dealt_ = false;  // the pool opens when the first part is dealt
  } else if (available_ > 0) {
    pool_.push_back({0, available_, 1});
    pooled_ = available_;
  }
}

range_list ledger::not_recorded(range_list const& ranges) const {
  range_list left;
  for (auto const& r : ranges) {
    if (!recorded_.intersects(r)) {
      left.push_back(r);
      continue;
    }
    for (std::uint64_t i = 0; i < r.count; ++i)
      if (!recorded_.contains(r[i])) append(left, {r[i], 1, 1});
  }
  return left;
}

ledger::peer* ledger::find(rank_id rank) {
  auto const at = std::find(config_.ranks.begin(), config_.ranks.end(), rank);
  return at == config_.ranks.end() ? nullptr : &peers_[static_cast<std::size_t>(at - config_.ranks.begin())];
}

int ledger::all_threads() const {
  int n = 0;
  for (auto const& p : peers_)
    if (p.computes && p.alive) n += std::max(1, p.threads);
  return n;
}

std::vector<rank_id> ledger::lost_ranks() const {
  std::vector<rank_id> ranks;
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (!peers_[i].alive) ranks.push_back(config_.ranks[i]);
  return ranks;
}

std::vector<rank_id> ledger::not_stopped() const {
  std::vector<rank_id> ranks;
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (peers_[i].alive && !peers_[i].stopped) ranks.push_back(config_.ranks[i]);
  return ranks;
}

void ledger::begin(actions& out) { maybe_complete(out); }

// --- giving
// ---------------------------------------------------------------------------------------------------

// Whether the window allows task `id` to be given out.
bool ledger::room(task_id id) const {
  if (config_.window == 0) return true;
  return config_.ordered ? id < sink_next_ + config_.window : open() < config_.window;
}

// Tasks that were given and whose results the sink has not had.
std::uint64_t ledger::open() const { return available_ - pooled_ - sunk_; }

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
  message grant{.kind = message_kind::grant, .extra = handed_out_again_ > 0 ? 1U : 0U};
  while (n > 0 && !pool_.empty() && room(pool_.front().first)) {
    std::uint64_t most = n;
    if (config_.window > 0 && config_.ordered && pool_.front().stride == 1)
      most = std::min(most, sink_next_ + config_.window - pool_.front().first);
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

// The first part of a hybrid, as soon as everybody who lives has said how fast it is.
void ledger::deal_weighted(actions& out) {
  if (dealt_ || stopping_ || !source_ended_) return;
  std::vector<std::size_t> takers;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    auto const& p = peers_[i];
    if (!p.computes || !p.alive) continue;
    if (!p.hello) return;
    takers.push_back(i);
  }
  if (takers.empty()) return;
  std::vector<double> power;
  for (auto const i : takers) {
    auto const rank = static_cast<std::size_t>(config_.ranks[i]);
    double const given = rank < config_.policy.power.size() ? config_.policy.power[rank] : 0;
    double const measured = peers_[i].power > 0 ? peers_[i].power : 1.0;
    power.push_back(given > 0 ? given : measured * std::max(1, peers_[i].threads));
  }
  dealt_ = true;
  std::uint64_t const cut = config_.policy.cut.of(available_);
  auto shares = weighted_shares(cut, power);
  for (std::size_t k = 0; k < takers.size(); ++k) {
    auto const n = count_tasks(shares[k]);
    if (n == 0) continue;
    given_ += n;
    if (stock_round_)
      for (auto const& r : shares[k]) claimed_.insert(r);
    out.push_back(
        send{config_.ranks[takers[k]], {.kind = message_kind::grant, .ranges = std::move(shares[k])}});
    peers_[takers[k]].waiting = false;
  }
  if (cut < available_) pool_.push_back({cut, available_ - cut, 1});
  pooled_ += available_ - cut;
  serve_waiting(out);
}

// --- events
// ----------------------------------------------------------------------------------------------------

void ledger::supplied(std::uint64_t available, bool ended, actions& out) {
  if (stopping_) return;
  if (available > available_) {
    task_range const fresh{available_, available - available_, 1};
    if (!pool_.empty() && pool_.back().stride == 1 && pool_.back().first + pool_.back().count == fresh.first)
      pool_.back().count += fresh.count;
    else
      pool_.push_back(fresh);
    pooled_ += fresh.count;
    available_ = available;
    quiet_ticks_ = 0;
  }
  source_ended_ = source_ended_ || ended;
  serve_waiting(out);
  maybe_complete(out);
}

void ledger::sunk(std::uint64_t count, task_id next, actions& out) {
  sunk_ = count;
  sink_next_ = next;
  quiet_ticks_ = 0;
  if (config_.window > 0) serve_waiting(out);
  if (config_.window > 0 && !pool_.empty()) push_to_closed(out);
  maybe_complete(out);
}

void ledger::sink_failed(task_id id, std::string text, actions& out) {
  if (finished_) return;
  if (outcome_.how == outcome::status::done || outcome_.how == outcome::status::stopped_early) {
    outcome_.how = outcome::status::sink_failed;
    outcome_.task = id;
    outcome_.rank = config_.root;
    outcome_.text = std::move(text);
  }
  begin_stop(out);
}

void ledger::source_failed(std::string text, actions& out) {
  if (finished_) return;
  if (outcome_.how == outcome::status::done) {
    outcome_.how = outcome::status::source_failed;
    outcome_.text = std::move(text);
  }
  begin_stop(out);
}

void ledger::hold_back(bool on, actions& out) {
  held_back_ = on;
  if (!on && !finished_) serve_waiting(out);
}

void ledger::stop_early(actions& out) {
  if (stopping_) return;
  outcome_.how = outcome::status::stopped_early;
  begin_stop(out);
}

void ledger::on(rank_id from, message const& m, actions& out) {
  auto* const p = find(from);
  if (p == nullptr) return;
  if (finished_) {  // it has not heard: say it again
    if (from == config_.root) return;
    if (aborted_)
      out.push_back(send{from, {.kind = message_kind::abort, .text = *aborted_}});
    else
      out.push_back(send{from, {.kind = message_kind::finish, .result = outcome_}});
    return;
  }
  auto const index = static_cast<std::size_t>(p - peers_.data());
  p->alive = true;  // whoever speaks is not lost: suspicion is taken back
  switch (m.kind) {
    case message_kind::hello:
      on_hello(index, m, out);
      break;
    case message_kind::ask:
      if (p->waiting) break;  // said again by an impatient worker
      p->waiting = true;
      p->wanted = m.number;
      serve(index, out);
      break;
    case message_kind::results:
      on_results(index, m, out);
      break;
    case message_kind::failed:
      if (outcome_.how == outcome::status::task_failed && outcome_.task == m.number && outcome_.rank == from)
        break;  // said again
      if (failures_++ == 0 && !stopping_) {
        outcome_.how = outcome::status::task_failed;
        outcome_.task = m.number;
        outcome_.rank = from;
        outcome_.text = m.text;
      } else {
        ++outcome_.more;
      }
      begin_stop(out);
      break;
    case message_kind::stock:
      on_stock(index, m, out);
      break;
    case message_kind::please_stop:
      stop_early(out);
      break;
    case message_kind::stopped:
      p->stopped = stopping_;
      maybe_finish(out);
      break;
    case message_kind::abort:
      abort(m.text, out);
      break;
    default:
      break;
  }
}

void ledger::on_hello(std::size_t index, message const& m, actions& out) {
  auto& p = peers_[index];
  if (m.number != config_.call_hash) {
    abort(
        "rank " + std::to_string(config_.ranks[index]) +
            " made another skeleton call than the root (other skeleton, schedule, number of tasks or types)",
        out);
    return;
  }
  if (!p.hello) quiet_ticks_ = 0;  // said again by a worker that has heard nothing, it is no movement
  p.hello = true;
  p.threads = static_cast<int>(std::max<std::uint64_t>(1, m.extra));
  p.power = m.power;
  if (stopping_) out.push_back(send{config_.ranks[index], {.kind = message_kind::stop}});
  deal_weighted(out);
  if (!pool_.empty() && p.closed) push_to_closed(out);
}

// Task numbers come from another process: they must exist before they become bits of a set.
bool ledger::tasks_exist(std::size_t index, range_list const& ranges, actions& out) {
  if (std::all_of(ranges.begin(), ranges.end(), [&](auto const& r) { return r.last() < available_; }))
    return true;
  abort("rank " + std::to_string(config_.ranks[index]) + " speaks of tasks that do not exist", out);
  return false;
}

void ledger::record_all(range_list const& ranges, actions& out) {
  for (auto const& r : ranges)
    for (auto const& fresh : recorded_.insert(r)) {
      take_from_pool(fresh);
      out.push_back(record{fresh});
      out.push_back(forget{fresh});
    }
}

// One value for all of `ranges`: if some have counted already, none may. The others are done again.
void ledger::record_merged(range_list const& ranges, actions& out) {
  task_set seen;
  bool once = true;
  for (auto const& r : ranges) {
    once = once && !recorded_.intersects(r);
    if (handed_out_again_ > 0) once = once && count_tasks(seen.insert(r)) == r.count;
  }
  if (once) {
    record_all(ranges, out);
    return;
  }
  range_list again;
  task_set chosen;
  task_set pooled;
  for (auto const& r : pool_) pooled.insert(r);
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i)
      if (!recorded_.contains(r[i]) && !pooled.contains(r[i]) && chosen.insert(r[i]))
        append(again, {r[i], 1, 1});
  put_back(again);
  serve_waiting(out);
  push_to_closed(out);
}

void ledger::on_results(std::size_t index, message const& m, actions& out) {
  if (stopping_ || !tasks_exist(index, m.ranges, out)) return;
  auto& p = peers_[index];
  quiet_ticks_ = 0;
  if (config_.merged)
    record_merged(m.ranges, out);
  else
    record_all(m.ranges, out);
  if (m.number > 0 && !p.waiting) {
    p.waiting = true;
    p.wanted = m.number;
  }
  serve(index, out);
  maybe_complete(out);
}

void ledger::lost(rank_id rank, actions& out) {
  auto* const p = find(rank);
  if (p == nullptr || !p->alive || finished_ || rank == config_.root) return;
  p->alive = false;
  p->waiting = false;
  p->stock_due = false;
  last_lost_ = static_cast<std::size_t>(p - peers_.data());
  enlist_root(out);
  deal_weighted(out);
  if (stopping_)
    maybe_finish(out);
  else if (stock_round_)
    stock_complete(out);  // the next tick counts again without it
  else
    take_stock(out);
}

// A root that only serves works when nobody else is left who could.
void ledger::enlist_root(actions& out) {
  if (stopping_ ||
      std::any_of(peers_.begin(), peers_.end(), [](auto const& p) { return p.computes && p.alive; }))
    return;
  auto* const root = find(config_.root);
  root->computes = true;
  root->closed = true;
  out.push_back(send{config_.root, {.kind = message_kind::nothing}});
}

void ledger::tick(actions& out) {
  if (finished_) return;
  if (stopping_) {
    if (++stop_ticks_ % patience != 0) return;
    for (rank_id r : not_stopped()) out.push_back(send{r, {.kind = message_kind::stop}});
    return;
  }
  bool const somebody_lost =
      std::any_of(peers_.begin(), peers_.end(), [](auto const& p) { return !p.alive; });
  // Level-triggered: reacting once to each loss would leave tasks behind that were on their way to the dead.
  // A round that is under way is given time: answers may take longer than a tick.
  if (stock_round_ && ++stock_ticks_ < patience) return;
  if (++quiet_ticks_ >= patience || somebody_lost) {
    quiet_ticks_ = 0;
    take_stock(out);
  }
}

void ledger::abort(std::string text, actions& out) {
  if (finished_) return;
  finished_ = true;
  aborted_ = text;
  for (rank_id r : config_.ranks)
    if (r != config_.root) out.push_back(send{r, {.kind = message_kind::abort, .text = text}});
  out.push_back(fail{fail::reason::protocol, std::move(text)});
}

// --- taking stock
// ----------------------------------------------------------------------------------------------

void ledger::take_stock(actions& out) {
  if (stopping_ || finished_) return;
  stock_round_ = true;
  stock_ticks_ = 0;
  ++round_;
  claimed_ = {};
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    auto& p = peers_[i];
    p.stock_due = p.computes && p.alive;
    if (p.stock_due)
      out.push_back(send{config_.ranks[i],
                         {.kind = message_kind::take_stock, .number = round_, .extra = p.hello ? 0U : 1U}});
  }
  stock_complete(out);
}

void ledger::on_stock(std::size_t index, message const& m, actions& out) {
  auto& p = peers_[index];
  if (!stock_round_ || m.number != round_ || !p.stock_due || !tasks_exist(index, m.ranges, out)) return;
  p.stock_due = false;
  for (auto const& r : m.ranges) claimed_.insert(r);
  stock_complete(out);
}

void ledger::stock_complete(actions& out) {
  if (!stock_round_ || std::any_of(peers_.begin(), peers_.end(), [](auto const& p) { return p.stock_due; }))
    return;
  if (!dealt_) {
    stock_round_ = false;
    return;
  }
  for (auto const& r : pool_) claimed_.insert(r);
  auto const missing = recorded_.missing(recorded_.low_water(), available_, claimed_);
  stock_round_ = false;
  claimed_ = {};
  put_back(missing);
  serve_waiting(out);
  push_to_closed(out);
}

// --- the end
// ---------------------------------------------------------------------------------------------------

void ledger::maybe_complete(actions& out) {
  // The sink may still throw while results wait for it, so the run is not done before it has had them all.
  if (!stopping_ && source_ended_ && recorded_.count() == available_ && sunk_ == available_) begin_stop(out);
}

void ledger::begin_stop(actions& out) {
  if (stopping_) return;
  stopping_ = true;
  stock_round_ = false;
  pool_.clear();
  pooled_ = 0;
  for (rank_id r : config_.ranks) out.push_back(send{r, {.kind = message_kind::stop}});
  maybe_finish(out);
}

void ledger::maybe_finish(actions& out) {
  if (!stopping_ || finished_) return;
  if (std::any_of(peers_.begin(), peers_.end(), [](auto const& p) { return p.alive && !p.stopped; })) return;
  finished_ = true;
  outcome_.tasks = sunk_;
  outcome_.handed_out_again = handed_out_again_;
  // Suspects are told too: most of them live.
  for (rank_id r : config_.ranks) out.push_back(send{r, {.kind = message_kind::finish, .result = outcome_}});
}

std::uint64_t ledger::hash() const {
  digest d;
  d.add(pool_).add(available_).add(source_ended_).add(dealt_).add(given_).add(sunk_).add(recorded_.count());
  d.add(recorded_.low_water()).add(handed_out_again_).add(failures_).add(stopping_).add(finished_);
  d.add(last_lost_.value_or(~std::size_t{0}));
  d.add(held_back_);
  d.add(stock_round_).add(round_).add(claimed_.count()).add(quiet_ticks_).add(stop_ticks_).add(stock_ticks_);
  for (auto const& p : peers_)
    d.add(p.alive)
        .add(p.hello)
        .add(p.waiting)
        .add(p.closed)
        .add(p.stopped)
        .add(p.stock_due)
        .add(p.wanted)
        .add(p.grants);
  return d.value();
}

}  // namespace skel::protocol
