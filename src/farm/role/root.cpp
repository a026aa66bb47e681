#include "farm/role/root.hpp"

#include <algorithm>
#include <utility>

#include "protocol/deal.hpp"
#include "protocol/roll_call.hpp"

namespace skel::role {

farm_root::farm_root(farm_root_config config)
    : config_(std::move(config)), book_(config_), results_(config_), balancer_(config_) {}

// --- the source and the sink

void farm_root::begin(farm_actions& out) {
  if (!book_.tasks.source_ended() || book_.restored_exist(out)) maybe_complete(out);
}

void farm_root::supplied(std::uint64_t available, bool ended, farm_actions& out) {
  if (book_.stopping()) return;
  auto const before = book_.tasks.available();
  auto const fresh = book_.tasks.supplied(available, ended);
  if (available > before) {
    book_.dealer.pool().add(fresh);
    if (count_tasks(fresh) < available - before) {  // the others were restored
      task_set unknown;
      for (auto const& r : fresh) unknown.insert(r);
      for (auto const& r : unknown.missing(before, available, {})) out.push_back(farm::forget{r});
    }
    book_.losses.stock().moved();
  }
  if (book_.tasks.source_ended() && !book_.restored_exist(out)) return;
  book_.serve_all(out);
  maybe_complete(out);
}

void farm_root::sunk(std::uint64_t count, task_id next, farm_actions& out) {
  book_.sunk(count, next);
  book_.losses.stock().moved();
  if (config_.window > 0) {
    book_.serve_all(out);
    book_.push(out);
  }
  maybe_complete(out);
}

void farm_root::resize_window(std::uint64_t tasks) {
  auto const threads = static_cast<std::uint64_t>(std::max(0, book_.dealer.ranks().all_threads()));
  book_.dealer.pool().resize_window(std::min(config_.window, std::max(tasks, threads)));
}

void farm_root::cancel(task_id task, farm_actions& out) {
  if (book_.stopping()) return;
  book_.leave_out(task, out);
  maybe_complete(out);
}

void farm_root::please_stop(farm_actions& out) {
  if (book_.stopping() || std::exchange(ends_, true)) return;
  pause(true, out);
  maybe_complete(out);
}

// What the ranks drop and what the pool has is left for a later run, or until the run goes on.
void farm_root::pause(bool on, farm_actions& out) {
  if (book_.stopping() || std::exchange(book_.paused, on) == on) return;
  for (rank_id r = 0; r < config_.ranks; ++r) {
    if (book_.dealer.ranks().retires(r) == on) continue;
    book_.dealer.retires(r, on, false);
    out.push_back(farm::send{r, farm::pause{on}});
  }
  count_stock(true, out);
}

void farm_root::hold_back(bool on, farm_actions& out) {
  book_.dealer.hold_back(on);
  book_.serve_all(out);
}

// The sink may still throw while results wait for it, so the run ends only when it has received all. After an
// early end, results may wait for tasks or audits that will not come.
void farm_root::maybe_complete(farm_actions& out) {
  if (book_.stopping()) return;
  auto const& tasks = book_.tasks;
  if (!tasks.all_recorded()) {
    bool const sunk = audits().on() || tasks.all_sunk(config_.ordered);
    if (ends_ && sunk && book_.dealer.ranks().all_vacant())
      book_.close({.how = outcome::status::stopped_early, .tasks = tasks.sunk()}, out);
    return;
  }
  results_.complete(out);
  auto const how = book_.counts.not_started > 0 ? outcome::status::stopped_early : outcome::status::done;
  if (book_.tasks.complete()) book_.close({.how = how, .tasks = book_.tasks.sunk()}, out);
}

// --- messages

void farm_root::on(rank_id from, farm_message const& m, farm_actions& out) {
  if (book_.stopping() || from < 0 || from >= config_.ranks) return;
  book_.dealer.heard(from);  // a rank that speaks is not lost: withdraws the suspicion
  book_.losses.suspects().heard(from);
  bool const asks = std::holds_alternative<farm::ask>(m) || std::holds_alternative<call_message>(m);
  if (book_.paused && asks) out.push_back(farm::send{from, farm::pause{}});  // it may have missed it
  if (audits().at_fault(from) && !std::holds_alternative<call_message>(m)) {
    out.push_back(farm::send{from, farm::dismissed{}});
    return;
  }
  std::visit(
      [&](auto const& what) {
        if constexpr (requires { answer(from, what, out); }) answer(from, what, out);
      },
      m);
}

void farm_root::answer(rank_id rank, call_message const& m, farm_actions& out) {
  auto const* const h = std::get_if<hello>(&m);
  if (h == nullptr) return;
  auto const& list = config_.list;
  auto& dealer = book_.dealer;
  auto& losses = book_.losses;
  if (dealer.hello(rank, h->threads, h->power)) {
    losses.stock().moved();  // a repetition by a member that has heard nothing is not progress
    if (list.tasks && !list.resumed && rank >= config_.first_computing && losses.watches(rank))
      losses.begun().given(rank, dealer.ranks().threads(rank),
                           known_share(config_.policy, *list.tasks, config_.computing(),
                                       rank - config_.first_computing, dealer.costs()),
                           book_.now);
  }
  give_again(out);
  book_.deal(out);
  if (dealer.requests()[rank].closed) book_.push(out);
}

void farm_root::answer(rank_id rank, farm::ask const& m, farm_actions& out) {
  auto& dealer = book_.dealer;
  if (balancer_.on()) {
    auto& loads = dealer.loads();
    if (m.here) loads.told(rank, *m.here);
    if (m.refused_by && *m.refused_by >= 0 && *m.refused_by < config_.ranks) loads.found_empty(*m.refused_by);
    if (dealer.requests()[rank].closed && dealer.ranks().computes(rank)) loads.seeks(rank);
    if (dealer.requests()[rank].closed && dealer.pool().empty() && book_.no_more() &&
        balancer_.direct(rank, true, book_, out))
      return;
  }
  dealer.requests().asks(rank, m.wanted);
  serve(rank, out);
}

void farm_root::answer(rank_id rank, farm::results const& m, farm_actions& out) {
  if (!book_.exist(rank, m.ranges, out) || !book_.exist(rank, m.begun, out)) return;
  auto& dealer = book_.dealer;
  auto& losses = book_.losses;
  losses.stock().moved();
  balancer_.learn(rank, m.ranges, book_);
  if (losses.watches(rank))
    losses.begun().results(rank, dealer.ranks().threads(rank), m.ranges, m.begun, book_.now);
  if (!losses.suspects().empty() &&  // a task with a result did not end its rank
      losses.suspects().acquit_if([&](task_id id) { return any_contains(m.ranges, id); }))
    book_.give_suspects(out);
  if (results_.take(rank, m.ranges, book_, out) && !book_.stopping()) {
    count_stock(!losses.stock().under_way(), out);
    book_.serve_all(out);
    book_.push(out);
  }
  dealer.finished(rank, count_tasks(m.ranges));
  if (m.here) dealer.loads().told(rank, *m.here);
  if (m.wanted > 0) dealer.requests().asks(rank, m.wanted);
  serve(rank, out);
  balancer_.direct_idle(false, book_, out);
  balancer_.give_early_copies(book_, out);
  maybe_complete(out);
}

void farm_root::answer(rank_id rank, farm::begins const& m, farm_actions& out) {
  if (!book_.exist(rank, m.running, out)) return;
  if (book_.losses.watches(rank) && !m.running.empty())
    book_.losses.begun().all(rank, book_.dealer.ranks().threads(rank), m.running, book_.now);
  if (m.here) book_.dealer.loads().told(rank, *m.here);
  balancer_.direct_idle(false, book_, out);
  balancer_.give_early_copies(book_, out);
}

// The rank gives the task back without a result, and has started it or not. Returns whether the result is
// still missing.
bool farm_root::misses(rank_id rank, task_id task, bool started, farm_actions& out) {
  range_list const range{{task, 1, 1}};
  if (!book_.exist(rank, range, out)) return false;
  auto& losses = book_.losses;
  losses.stock().moved();
  book_.dealer.finished(rank, 1);
  if (losses.watches(rank))
    losses.begun().results(rank, book_.dealer.ranks().threads(rank), range, {}, book_.now);
  auto& suspects = losses.suspects();
  if (!started)
    suspects.take_back_if([&](task_id id) { return id == task && suspects.holds(rank, id); });
  else if (suspects.acquit(task))  // it throws, so it ended no rank
    book_.give_suspects(out);
  if (!results_.threw(task, rank)) return !book_.tasks.recorded().contains(task);
  results_.give_audits(book_, out);  // it ran on another rank
  maybe_complete(out);
  return false;
}

void farm_root::answer(rank_id rank, farm::task_failed const& m, farm_actions& out) {
  auto& failed = book_.failed;
  if (misses(rank, m.task, true, out) && failed.add(m.task, rank, m.nth)) {
    if (auto const times = failed.times(m.task); times >= config_.on_error.times) {
      book_.give_up({m.task, rank, times, m.text}, 0, out);
      maybe_complete(out);
    } else {
      failed.wait(m.task);
      book_.give_failed(out);
    }
  }
  if (!book_.stopping()) book_.serve(rank, out);  // a window may have room for the rank now
}

void farm_root::answer(rank_id rank, farm::refused const& m, farm_actions& out) {
  if (misses(rank, m.task, false, out)) {
    if (!m.late.empty()) {
      ++book_.counts.not_started;
      out.push_back(farm::leave_out{m.task, rank, 0, m.late, false, true});
      book_.leave_out(m.task, out);
    } else if (book_.failed.refuse(m.task, rank, m.nth, {m.memory, m.threads})) {
      if (!book_.losses.suspects().contains(m.task)) book_.failed.wait(m.task);
      give_again(out);
    }
    maybe_complete(out);
  }
  if (!book_.stopping()) book_.serve(rank, out);
}

void farm_root::answer(rank_id rank, farm::stock const& m, farm_actions& out) {
  auto& stock = book_.losses.stock();
  if (!stock.awaits(rank, m.round) || !book_.exist(rank, m.held, out)) return;
  stock.answered(rank, m.held);
  book_.dealer.requests()[rank].held = count_tasks(m.held);
  count_stock(false, out);
}

void farm_root::serve(rank_id rank, farm_actions& out) {
  if (rank == config_.root) book_.dealer.rest_root(balancer_.leaves_to_others(book_));
  book_.serve(rank, out);
}

// It still sends the results of the tasks that it runs, and says in the round which these are.
void farm_root::answer(rank_id rank, farm::retires const& m, farm_actions& out) {
  bool const news = book_.dealer.retires(rank, m.does, m.vacant);
  if (book_.paused) return maybe_complete(out);
  if (!news) return;
  book_.losses.stock().again_soon();
  results_.enlist_root(book_, out);
  book_.deal(out);
  if (book_.stopping()) return;
  results_.give_audits(book_, out);
  if (book_.stopping()) return;
  count_stock(!book_.losses.stock().under_way(), out);
}

// --- losses and errors

void farm_root::lost(rank_id rank, farm_actions& out) {
  bool const known = rank >= 0 && rank < config_.ranks && book_.dealer.ranks().alive(rank);
  if (!known || book_.stopping() || rank == config_.root) return;
  book_.dealer.lost(rank);
  book_.losses.suspects().lost(rank);
  book_.losses.lost(rank);
  results_.enlist_root(book_, out);
  book_.deal(out);
  if (book_.stopping()) return;
  results_.lost(rank);
  results_.give_audits(book_, out);
  if (book_.stopping()) return;
  count_stock(!book_.losses.stock().under_way(),
              out);  // during a round, the next tick counts again without it
  maybe_complete(out);
}

void farm_root::tick(farm_actions& out) {
  if (book_.stopping()) return;
  if (auto const guilty = book_.losses.suspects().tick()) {
    auto const& ranks = guilty->ranks;
    book_.give_up({guilty->work, ranks.empty() ? 0 : ranks.back(), static_cast<unsigned>(ranks.size()),
                   text_of(blamed{guilty->work, ranks}), true},
                  guilty->more, out);
    maybe_complete(out);
    return;
  }
  give_again(out);
  if (book_.stopping()) return;
  if (balancer_.on()) balancer_.direct_idle(true, book_, out);
  serve(config_.root, out);
  balancer_.give_early_copies(book_, out);
  if (book_.losses.stock().tick(book_.dealer.ranks().any_lost() || !audits().faults().empty()))
    count_stock(true, out);
}

// Begins a round of stock-taking if `again`, and ends the round if all answers are here.
void farm_root::count_stock(bool again, farm_actions& out) {
  if (book_.paused) return;
  auto& losses = book_.losses;
  auto& stock = losses.stock();
  if (again) losses.take_stock(book_.dealer.ranks(), out);
  if (!stock.complete()) return;
  if (!book_.dealer.dealt()) {
    stock.end();
    return;
  }
  for (auto const& r : book_.dealer.pool().ranges()) stock.claim(r);
  for (task_id const id : book_.failed.waiting()) stock.claim({id, 1, 1});
  results_.claim_audits(stock);
  auto const found = losses.finish_round(book_.tasks, book_.dealer.ranks());
  book_.counts.again += found.suspects;
  book_.put_back(found.missing);
  give_again(out);
  book_.serve_all(out);
  book_.push(out);
}

// Gives tasks that must run once more and wait for a rank.
void farm_root::give_again(farm_actions& out) {
  book_.give_suspects(out);
  book_.give_failed(out);
  results_.give_audits(book_, out);
  maybe_complete(out);
}

}  // namespace skel::role
