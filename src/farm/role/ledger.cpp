#include "farm/role/ledger.hpp"

#include <algorithm>
#include <utility>

#include "role/deal.hpp"
#include "role/digest.hpp"

namespace skel::role {

ledger::ledger(ledger_config config) : config_(std::move(config)), peers_(config_.ranks.size()) {
  bool const asks = asks_root(config_.policy);
  for (rank_id w : config_.workers)
    if (auto* p = find(w)) p->computes = true;
  for (auto& p : peers_) p.closed = p.computes && !asks;
  for (auto const& r : config_.restored) {
    recorded_.insert(r);
    restored_end_ = std::max(restored_end_, r.last() + 1);
  }
  restored_ = recorded_.count();
  if (!config_.tasks) return;
  available_ = *config_.tasks;
  restored_here_ = restored_;
  source_ended_ = true;
  if (config_.policy.start == start_with::weighted || (!asks && config_.resumed)) {
    dealt_ = false;  // the pool opens when the first part is dealt
  } else if (!asks) {
    given_ = available_;  // every worker knows its share
  } else {
    add_to_pool(recorded_.missing(0, available_, {}));
  }
}

ledger::peer* ledger::find(rank_id rank) {
  auto const at = std::find(config_.ranks.begin(), config_.ranks.end(), rank);
  return at == config_.ranks.end() ? nullptr : &peers_[static_cast<std::size_t>(at - config_.ranks.begin())];
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

void ledger::begin(actions& out) {
  if (!source_ended_ || restored_fit(out)) maybe_complete(out);
}

// Restored results belong to tasks of this source: otherwise the run could never be complete.
bool ledger::restored_fit(actions& out) {
  if (restored_end_ <= available_) return true;
  source_failed("it has " + std::to_string(available_) +
                    " tasks, but the checkpoint holds the result of task " +
                    std::to_string(restored_end_ - 1),
                out);
  return false;
}

// --- events

void ledger::supplied(std::uint64_t available, bool ended, actions& out) {
  if (stopping_) return;
  if (available > available_) {
    auto const fresh = recorded_.missing(available_, available, {});
    add_to_pool(fresh);
    if (auto const known = available - available_ - count_tasks(fresh); known > 0) {
      restored_here_ += known;
      task_set unknown;
      for (auto const& r : fresh) unknown.insert(r);
      for (auto const& r : unknown.missing(available_, available, {})) out.push_back(forget{r});
    }
    available_ = available;
    quiet_ticks_ = 0;
  }
  source_ended_ = source_ended_ || ended;
  if (source_ended_ && !restored_fit(out)) return;
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
    case message_kind::begins:
      on_begins(index, m, out);
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
  bool const first = !std::exchange(p.hello, true);
  p.threads = static_cast<int>(std::max<std::uint64_t>(1, m.extra));
  if (first) {
    quiet_ticks_ = 0;  // said again by a worker that has heard nothing, it is no movement
    expect(index, first_share(index));
  }
  p.power = m.power;
  give_suspects(out);
  if (stopping_) out.push_back(send{config_.ranks[index], {.kind = message_kind::stop}});
  deal_shares(out);
  if (!pool_.empty() && p.closed) push_to_closed(out);
}

void ledger::on_results(std::size_t index, message const& m, actions& out) {
  if (stopping_ || !tasks_exist(index, m.ranges, out)) return;
  auto& p = peers_[index];
  quiet_ticks_ = 0;
  on_begins(index, m, out);
  if (finished_) return;  // it spoke of tasks that do not exist
  acquit(m.ranges, out);
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

void ledger::abort(std::string text, actions& out) {
  if (finished_) return;
  finished_ = true;
  aborted_ = text;
  for (rank_id r : config_.ranks)
    if (r != config_.root) out.push_back(send{r, {.kind = message_kind::abort, .text = text}});
  out.push_back(fail{fail::reason::protocol, std::move(text)});
}

// --- the end

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
  d.add(stock_pause_).add(blame_ticks_);
  for (auto const& [id, s] : suspects_) {
    d.add(id).add(s.given).add(s.holder ? *s.holder + 1 : 0).add(s.losses.size());
    for (auto const& l : s.losses) d.add(l.peer * 4 + (l.watched ? 2 : 0) + (l.alone ? 1 : 0));
  }
  d.add(suspects_.size());
  for (auto const& p : peers_)
    d.add(p.alive)
        .add(p.hello)
        .add(p.waiting)
        .add(p.closed)
        .add(p.stopped)
        .add(p.stock_due)
        .add(p.running)
        .add(p.judged)
        .add(p.wanted)
        .add(p.grants);
  return d.value();
}

}  // namespace skel::role
