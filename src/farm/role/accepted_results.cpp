#include "farm/role/accepted_results.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

accepted_results::accepted_results(farm_root_config const& config)
    : root_(config.root),
      merged_(config.merged),
      holds_(config.audit.holds),
      audits_(config.audit.share, config.ranks) {}

bool accepted_results::take(rank_id rank, range_list const& ranges, farm_book& book, farm_actions& out) {
  if (merged_)
    record_merged(ranges, book, out);
  else if (audits_.on())
    return audit(rank, ranges, book, out);
  else
    record(ranges, book, out);
  return false;
}

void accepted_results::record(range_list const& ranges, farm_book& book, farm_actions& out) const {
  for (auto const& r : ranges)
    for (auto const& fresh : book.record(r)) {
      out.push_back(farm::record{fresh});
      out.push_back(farm::forget{fresh});
    }
}

// One value for all of `ranges`: if some tasks count already, the value is refused and the others run again.
void accepted_results::record_merged(range_list const& ranges, farm_book& book, farm_actions& out) const {
  auto const& recorded = book.tasks.recorded();
  task_set seen;
  bool once = true;
  for (auto const& r : ranges) {
    once = once && !recorded.intersects(r);
    if (book.counts.again > 0) once = once && count_tasks(seen.insert(r)) == r.count;
  }
  if (once) {
    record(ranges, book, out);
    return;
  }
  if (!book.dealer.dealt()) return;  // they have not been given yet
  book.put_back_missing(book.tasks.not_recorded(ranges));
  book.serve_all(out);
  book.push(out);
}

// --- audits

bool accepted_results::audit(rank_id rank, range_list const& ranges, farm_book& book, farm_actions& out) {
  range_list plain;
  std::vector<task_id> chosen;
  for (auto const& r : book.tasks.not_recorded(ranges))
    for (std::uint64_t i = 0; i < r.count; ++i)
      if (audits_.chooses(r[i]))
        chosen.push_back(r[i]);
      else
        append(plain, {r[i], 1, 1});
  for (auto const& r : plain)
    for (auto const& fresh : book.record(r)) {
      audits_.hold(rank, fresh);
      out.push_back(farm::record{fresh});
    }
  auto const versions = std::exchange(versions_, {});
  bool dismissed = false;
  for (task_id const id : chosen) {
    if (book.stopping()) return dismissed;
    if (audits_.at_fault(rank)) break;
    if (book.tasks.recorded().contains(id)) continue;
    auto const at =
        std::find_if(versions.begin(), versions.end(), [&](auto const& v) { return v.task == id; });
    audits_.answered(id, rank, at == versions.end() ? 0 : at->version);
    dismissed = judge(id, book, out) || dismissed;
  }
  give_audits(book, out);
  release_of(rank, out);
  return dismissed;
}

bool accepted_results::judge(task_id id, farm_book& book, farm_actions& out) {
  if (auto const version = audits_.agreed(id)) return settle(id, *version, true, book, out);
  if (auto const& all = audits_.answers(id); all.size() > 2)
    disagree(id,
             "its results on ranks " + std::to_string(all[0].rank) + ", " + std::to_string(all[1].rank) +
                 " and " + std::to_string(all[2].rank) + " all differ: it must be deterministic",
             book, out);
  return false;
}

void accepted_results::disagree(task_id id, std::string text, farm_book& book, farm_actions& out) const {
  book.close({.how = outcome::status::task_failed,
              .task = id,
              .rank = audits_.answers(id).back().rank,
              .text = std::move(text)},
             out);
}

// Returns true if a rank was dismissed because its result differs.
bool accepted_results::settle(task_id id, std::uint64_t version, bool checked, farm_book& book,
                              farm_actions& out) {
  book.record({id, 1, 1});
  out.push_back(farm::accept{id, version});
  out.push_back(farm::forget{{id, 1, 1}});
  auto const all = audits_.close(id, checked);
  bool dismissed = false;
  for (auto const& a : all)
    if (a.version != version) {
      dismiss(a.rank, id, book, out);
      dismissed = true;
    }
  for (auto const& a : all) release_of(a.rank, out);
  return dismissed;
}

bool accepted_results::threw(task_id task, rank_id rank) {
  if (!audits_.open(task)) return false;
  audits_.threw(task, rank);
  return true;
}

void accepted_results::give_audits(farm_book& book, farm_actions& out) {
  if (!audits_.on() || book.paused) return;
  auto const& computing = book.dealer.ranks();
  for (task_id const id : audits_.waiting()) {
    if (book.stopping()) return;
    if (!audits_.open(id)) continue;  // settled in this loop
    std::optional<rank_id> taker;
    bool later = false;
    auto const ranks = static_cast<std::uint64_t>(computing.ranks());
    for (std::uint64_t k = 0; k < ranks; ++k) {
      auto const rank = static_cast<rank_id>((id + k) % ranks);
      if (!computing.computes(rank) || !audits_.may_repeat(id, rank)) continue;
      if (!computing.said_hello(rank))
        later = true;
      else if (!taker || audits_.holds(rank) < audits_.holds(*taker))
        taker = rank;
    }
    if (taker) {
      audits_.given(id, *taker);
      book.give_alone(*taker, id, false, out);
    } else if (!later) {
      give_up(id, book, out);
    }
  }
}

// There is no other rank that could repeat the task.
void accepted_results::give_up(task_id id, farm_book& book, farm_actions& out) {
  auto const& all = audits_.answers(id);
  if (all.size() == 1)
    settle(id, all.front().version, false, book, out);
  else
    disagree(id,
             "its results on ranks " + std::to_string(all[0].rank) + " and " + std::to_string(all[1].rank) +
                 " differ, and there is no third rank that could settle which is right",
             book, out);
}

void accepted_results::claim_audits(stock_taking& stock) {
  for (task_id const id : audits_.take_back_if([&](task_id t) { return !stock.claimed().contains(t); }))
    stock.claim({id, 1, 1});
}

void accepted_results::complete(farm_actions& out) {
  if (!audits_.on() || !holds_) return;
  for (rank_id r = 0; r < audits_.ranks(); ++r) release(r, out);
}

// The sink may have the results of a rank none of whose audited results is in doubt.
void accepted_results::release_of(rank_id rank, farm_actions& out) {
  if (!holds_ && !audits_.at_fault(rank) && !audits_.any_open(rank)) release(rank, out);
}

void accepted_results::release(rank_id rank, farm_actions& out) {
  auto const tasks = audits_.release(rank);
  if (tasks.empty()) return;
  out.push_back(farm::release{rank});
  for (auto const& r : tasks) out.push_back(farm::forget{r});
}

// The rank is at fault: it computes nothing more, and its results are computed again.
void accepted_results::dismiss(rank_id rank, task_id task, farm_book& book, farm_actions& out) {
  auto const again = audits_.blame(rank, task);
  book.tasks.erase(again);
  out.push_back(farm::discard{rank});
  out.push_back(farm::send{rank, farm::dismissed{}});
  book.dealer.dismiss(rank);
  static_cast<void>(book.losses.begun().take(rank));
  book.put_back_missing(again);  // an open audit may be in the pool, after a loss
  book.losses.lost(rank);        // what it holds runs elsewhere
  enlist_root(book, out);
}

void accepted_results::enlist_root(farm_book& book, farm_actions& out) const {
  if (book.paused) return;
  if (!audits_.at_fault(root_))
    book.enlist_root(out);
  else if (book.dealer.ranks().computing() == 0)
    book.close({.how = outcome::status::task_failed,
                .task = audits_.faults().front().task,
                .rank = root_,
                .text = "no rank is left whose results can be believed"},
               out);
}

}  // namespace skel::role
