#include "farm/role/book.hpp"

#include <algorithm>

#include "base/memory.hpp"
#include "protocol/deal.hpp"

namespace skel::role {

namespace {

// Returns false if it is known.
template <class List, class Failure>
bool add_new(List& known, Failure const& one) {
  if (std::find(known.begin(), known.end(), one) != known.end()) return false;
  known.push_back(one);
  return true;
}

}  // namespace

// --- failed_tasks

bool failed_tasks::add(task_id task, rank_id rank, std::uint64_t nth) {
  return add_new(all_[task].failures, failure{rank, nth});
}

bool failed_tasks::refuse(task_id task, rank_id rank, std::uint64_t nth, task_room const& needs) {
  all_[task].needs = needs;
  return add_new(all_[task].refusals, failure{rank, nth});
}

bool failed_tasks::fits(task_id task, rank_id rank) const {
  auto const at = all_.find(task);
  return rooms_.empty() || at == all_.end() ||
         rooms_.at(static_cast<std::size_t>(rank)).fits(at->second.needs);
}

bool failed_tasks::fits_only(task_id task, rank_id rank, compute_ranks const& ranks) const {
  for (rank_id r = 0; r < ranks.ranks(); ++r)
    if (ranks.computes(r) && fits(task, r) != (r == rank)) return false;
  return true;
}

std::string failed_tasks::misfit(task_id task, compute_ranks const& ranks) const {
  task_room most;
  if (rooms_.empty() || ranks.computing() == 0) return {};
  for (rank_id r = 0; r < ranks.ranks(); ++r) {
    if (!ranks.computes(r)) continue;
    if (fits(task, r)) return {};
    auto const& room = rooms_.at(static_cast<std::size_t>(r));
    most = {std::max(most.memory, room.memory), std::max(most.threads, room.threads)};
  }
  auto const& needs = all_.at(task).needs;
  if (needs.threads > most.threads)
    return "it needs " + std::to_string(needs.threads) + " threads, but a rank has at most " +
           std::to_string(most.threads);
  if (needs.memory > most.memory)
    return "it needs " + detail::text_of_bytes(needs.memory) + " of memory, but a rank may use at most " +
           detail::text_of_bytes(most.memory);
  return "no rank has the memory, " + detail::text_of_bytes(needs.memory) + ", and the " +
         std::to_string(needs.threads) + " threads that it needs";
}

unsigned failed_tasks::times(task_id task) const {
  auto const at = all_.find(task);
  return at == all_.end() ? 0 : static_cast<unsigned>(at->second.failures.size());
}

bool failed_tasks::failed_on(task_id task, rank_id rank) const {
  auto const at = all_.find(task);
  return at != all_.end() && std::any_of(at->second.failures.begin(), at->second.failures.end(),
                                         [&](failure const& f) { return f.rank == rank; });
}

std::optional<rank_id> failed_tasks::taker(task_id task, farm_dealer const& dealer) const {
  auto const fresh = [&](rank_id rank) {
    return fits(task, rank) && (!elsewhere_ || !failed_on(task, rank));
  };
  auto takers = dealer.takers_alone();  // the root only if it is alone
  std::erase_if(takers, [&](rank_id rank) { return !fits(task, rank); });
  if (auto const at = std::find_if(takers.begin(), takers.end(), fresh); at != takers.end()) return *at;
  auto const& ranks = dealer.ranks();
  bool const root_takes = ranks.computes(root_) && ranks.said_hello(root_);
  if (root_takes && fresh(root_)) return root_;
  for (rank_id r = 0; r < ranks.ranks(); ++r)
    if (ranks.computes(r) && !ranks.said_hello(r) && fresh(r)) return std::nullopt;
  if (takers.empty()) return root_takes && fits(task, root_) ? std::optional(root_) : std::nullopt;
  return takers[times(task) % takers.size()];
}

void failed_tasks::settle(task_range const& tasks) {
  if (all_.empty()) return;
  auto const end = all_.upper_bound(tasks.last());
  for (auto at = all_.lower_bound(tasks.first); at != end;)
    at = tasks.contains(at->first) ? all_.erase(at) : std::next(at);
}

std::vector<task_id> failed_tasks::waiting() const {
  std::vector<task_id> list;
  for (auto const& [id, t] : all_)
    if (t.waits) list.push_back(id);
  return list;
}

// --- farm_book

farm_book::farm_book(farm_root_config const& config)
    : tasks(config.list),
      dealer(config, task_pool(config.window, config.ordered, tasks.recorded().count())),
      losses(config),
      failed(config),
      spacing(config.ranks),
      root_(config.root),
      directs_(config.directs()),
      collects_(config.on_error.collects),
      recalled_(config.list.recalled) {
  if (asks_root(config.policy) && dealer.dealt()) dealer.pool().add(tasks.missing());
}

// --- tasks for ranks

// Sends the dealer's decisions to the ranks.
void farm_book::give(farm_actions& out) {
  for (auto& a : decided_) {
    if (a.tasks.empty()) {
      dealer.loads().waits_in_vain(a.rank);
      out.push_back(farm::send{a.rank, farm::nothing{}});
      continue;
    }
    losses.claim(a.tasks);  // its new owner may have answered already
    if (losses.watches(a.rank)) losses.begun().given(a.rank, dealer.ranks().threads(a.rank), a.tasks, now);
    if (directs_ && a.rank != root_)
      if (auto const news = spacing.news_for(a.rank)) out.push_back(farm::send{a.rank, farm::spacing{*news}});
    // A rank that was declared dead may still hold tasks that it is given again.
    out.push_back(farm::send{a.rank, farm::grant{std::move(a.tasks), any_twice()}});
  }
  decided_.clear();
}

void farm_book::serve(rank_id rank, farm_actions& out) {
  dealer.serve(rank, no_more(), decided_);
  give(out);
}

void farm_book::serve_all(farm_actions& out) {
  dealer.serve_all(no_more(), decided_);
  give(out);
}

void farm_book::push(farm_actions& out) {
  dealer.push(decided_);
  give(out);
}

void farm_book::deal(farm_actions& out) {
  if (!tasks.source_ended() || !dealer.may_deal()) return;
  auto const suspects = losses.suspect_roots(tasks);
  counts.again += suspects.count();
  dealer.pool().restored(tasks.recorded().count() + suspects.count());  // they do not come from the pool
  dealer.deal(tasks.missing(suspects), decided_);
  give(out);
  give_suspects(out);
  serve_all(out);
}

void farm_book::enlist_root(farm_actions& out) {
  dealer.enlist_root(decided_);
  give(out);
}

void farm_book::give_suspects(farm_actions& out) {
  auto& suspects = losses.suspects();
  if (stopping() || suspects.empty()) return;
  auto const give_one = [&](rank_id to, auto const& fits) {
    if (suspects.holds_one(to)) return;
    auto const task = suspects.next(fits);
    if (!task) return;
    suspects.given(*task, to);
    dealer.count_given();
    give_alone(to, *task, true, out);
  };
  for (rank_id const to : dealer.takers_alone())
    give_one(to, [&](task_id task) { return failed.fits(task, to); });
  if (failed.empty()) return;
  auto const& ranks = dealer.ranks();
  if (ranks.computes(root_) && ranks.said_hello(root_))
    give_one(root_, [&](task_id task) { return failed.fits_only(task, root_, ranks); });
  for (task_id const task : suspects.not_held()) {
    auto why = suspects.blames(task) ? std::string() : failed.misfit(task, ranks);
    if (why.empty()) continue;
    give_up({task, root_, 1, std::move(why)}, 0, out);
    if (stopping()) return;
  }
}

void farm_book::give_failed(farm_actions& out) {
  if (stopping() || failed.empty()) return;
  auto const& pool = dealer.pool().ranges();
  for (task_id const id : failed.waiting()) {
    bool const pooled =  // the rank was thought lost, and its tasks are given again anyway
        counts.again > 0 &&
        std::any_of(pool.begin(), pool.end(), [&](auto const& r) { return r.contains(id); });
    auto const to = pooled ? std::nullopt : failed.taker(id, dealer);
    if (pooled || to) failed.given(id);
    if (to) give_alone(*to, id, false, out);
    if (pooled || to) continue;
    auto why = failed.misfit(id, dealer.ranks());
    if (why.empty()) continue;
    give_up({id, root_, 1, std::move(why)}, 0, out);
    if (stopping()) return;
  }
}

void farm_book::give_alone(rank_id rank, task_id task, bool watched, farm_actions& out) {
  losses.claim({{task, 1, 1}});
  out.push_back(farm::send{rank, farm::grant_alone{{task, 1, 1}, watched}});
}

void farm_book::give_copy(rank_id rank, range_list which, bool next, farm_actions& out) {
  ++counts.copies;
  if (next) {
    out.push_back(farm::send{rank, farm::grant_alone{which.front(), false}});
    return;
  }
  dealer.loads().granted(rank, count_tasks(which));
  losses.begun().given(rank, dealer.ranks().threads(rank), which, now, true);
  out.push_back(farm::send{rank, farm::grant{std::move(which), true}});
}

void farm_book::put_back(range_list const& which) {
  dealer.pool().put_back(which);
  counts.again += count_tasks(which);
}

void farm_book::put_back_missing(range_list const& which) {
  task_set pooled;
  for (auto const& r : dealer.pool().ranges()) pooled.insert(r);
  range_list fresh;
  for (auto const& r : which)
    for (std::uint64_t i = 0; i < r.count; ++i)
      if (pooled.insert(r[i])) append(fresh, {r[i], 1, 1});
  put_back(fresh);
}

// --- tasks on their way to the sink

range_list farm_book::record(task_range const& range) {
  auto fresh = tasks.record(range);
  for (auto const& r : fresh) {
    // The task may be back in the pool and not yet given again.
    if (counts.again > 0 || recalled_) dealer.pool().remove(r, tasks.recorded());
    if (recalled_ && !dealer.dealt()) counts.remembered += r.count;
    failed.settle(r);
  }
  return fresh;
}

void farm_book::give_up(farm::leave_out task, std::uint64_t more, farm_actions& out) {
  if (!collects_) {
    if (task.times > 1 && !task.ended_ranks)
      task.text += " (the task failed " + std::to_string(task.times) + " times)";
    close({.how = outcome::status::task_failed,
           .task = task.task,
           .rank = task.rank,
           .more = more,
           .text = std::move(task.text)},
          out);
    return;
  }
  auto const id = task.task;
  out.push_back(std::move(task));
  leave_out(id, out);
}

void farm_book::leave_out(task_id task, farm_actions& out) {
  task_range const range{task, 1, 1};
  tasks.leave_out(task);
  dealer.pool().remove(range, tasks.recorded());
  failed.settle(range);
  losses.suspects().acquit(task);
  out.push_back(farm::forget{range});
  sunk(tasks.sunk(), tasks.sink_next());
  serve_all(out);
  push(out);
}

void farm_book::sunk(std::uint64_t count, task_id next) {
  tasks.sunk(count, next);
  dealer.pool().sunk(count + tasks.left_out(), next);
}

// --- the end

bool farm_book::exist(rank_id rank, range_list const& which, farm_actions& out) {
  if (tasks.exist(which)) return true;
  stop();
  out.push_back(role::abort{"rank " + std::to_string(rank) + " speaks of tasks that do not exist"});
  return false;
}

bool farm_book::restored_exist(farm_actions& out) {
  auto const unknown = tasks.unknown_restored();
  if (!unknown) return true;
  close({.how = outcome::status::source_failed,
         .text = "it has " + std::to_string(tasks.available()) +
                 " tasks, but the checkpoint holds the result of task " + std::to_string(*unknown)},
        out);
  return false;
}

void farm_book::stop() {
  stopped_ = true;
  dealer.stop();
  losses.stock().end();
}

void farm_book::close(outcome how, farm_actions& out) {
  stop();
  out.push_back(role::close{std::move(how)});
}

}  // namespace skel::role
