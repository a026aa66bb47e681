// The root of a farm that audits its results: some tasks run again on another rank, a third rank settles a
// difference, and the results of a rank at fault are computed again.
#include <algorithm>
#include <utility>

#include "farm/role/root.hpp"

namespace skel::role {

void farm_root::audit(rank_id rank, range_list const& ranges, farm_actions& out) {
  range_list plain;
  std::vector<task_id> chosen;
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i) {
      if (recorded_.contains(r[i])) continue;
      if (audits_.chooses(r[i]))
        chosen.push_back(r[i]);
      else
        append(plain, {r[i], 1, 1});
    }
  for (auto const& r : plain)
    for (auto const& fresh : recorded_.insert(r)) {
      settle(fresh);
      audits_.hold(rank, fresh);
      out.push_back(farm::record{fresh});
    }
  auto const versions = std::exchange(versions_, {});
  for (task_id const id : chosen) {
    if (stopping()) return;
    if (audits_.at_fault(rank)) break;
    if (recorded_.contains(id)) continue;
    auto const at =
        std::find_if(versions.begin(), versions.end(), [&](auto const& v) { return v.task == id; });
    audits_.answered(id, rank, at == versions.end() ? 0 : at->version);
    judge(id, out);
  }
  give_audits(out);
  release_of(rank, out);
}

void farm_root::judge(task_id id, farm_actions& out) {
  if (auto const version = audits_.agreed(id)) {
    settle_audit(id, *version, true, out);
  } else if (auto const& all = audits_.answers(id); all.size() > 2) {
    disagree(id,
             "its results on ranks " + std::to_string(all[0].rank) + ", " + std::to_string(all[1].rank) +
                 " and " + std::to_string(all[2].rank) + " all differ: it must be deterministic",
             out);
  }
}

void farm_root::disagree(task_id id, std::string text, farm_actions& out) {
  auto const last = audits_.answers(id).back().rank;
  roll(out, &roll_call::task_failed, id, last, std::move(text));
}

void farm_root::settle_audit(task_id id, std::uint64_t version, bool checked, farm_actions& out) {
  recorded_.insert(id);
  settle({id, 1, 1});
  out.push_back(farm::accept{id, version});
  out.push_back(farm::forget{{id, 1, 1}});
  auto const all = audits_.close(id, checked);
  for (auto const& a : all)
    if (a.version != version) dismiss(a.rank, id, out);
  for (auto const& a : all) release_of(a.rank, out);
}

// Asks other ranks to repeat open audits.
void farm_root::give_audits(farm_actions& out) {
  if (!audits_.on()) return;
  for (task_id const id : audits_.waiting()) {
    if (stopping()) return;
    if (!audits_.open(id)) continue;  // settled in this loop
    std::optional<rank_id> taker;
    bool later = false;
    auto const ranks = static_cast<std::uint64_t>(config_.ranks);
    for (std::uint64_t k = 0; k < ranks; ++k) {
      auto const rank = static_cast<rank_id>((id + k) % ranks);
      if (!dealer_.computes(rank) || !audits_.may_repeat(id, rank)) continue;
      if (!dealer_.said_hello(rank))
        later = true;
      else if (!taker || audits_.holds(rank) < audits_.holds(*taker))
        taker = rank;
    }
    if (taker) {
      audits_.given(id, *taker);
      out.push_back(farm::send{*taker, farm::grant_alone{{id, 1, 1}, false}});
    } else if (!later) {
      give_up_audit(id, out);
    }
  }
}

// There is no other rank that could repeat the task.
void farm_root::give_up_audit(task_id id, farm_actions& out) {
  auto const& all = audits_.answers(id);
  if (all.size() == 1)
    settle_audit(id, all.front().version, false, out);
  else
    disagree(id,
             "its results on ranks " + std::to_string(all[0].rank) + " and " + std::to_string(all[1].rank) +
                 " differ, and there is no third rank that could settle which is right",
             out);
}

// The sink may have the results of a rank none of whose audited results is in doubt.
void farm_root::release_of(rank_id rank, farm_actions& out) {
  if (config_.audit_holds || audits_.at_fault(rank) || audits_.any_open(rank)) return;
  release(rank, out);
}

void farm_root::release(rank_id rank, farm_actions& out) {
  auto const tasks = audits_.release(rank);
  if (tasks.empty()) return;
  out.push_back(farm::release{rank});
  for (auto const& r : tasks) out.push_back(farm::forget{r});
}

// The rank is at fault: it computes nothing more, and its results are computed again.
void farm_root::dismiss(rank_id rank, task_id task, farm_actions& out) {
  auto again = audits_.blame(rank, task);
  for (auto const& r : again)
    for (std::uint64_t i = 0; i < r.count; ++i) recorded_.erase(r[i]);
  out.push_back(farm::discard{rank});
  out.push_back(farm::send{rank, farm::dismissed{}});
  dealer_.dismiss(rank);
  static_cast<void>(begun_.take(rank));
  task_set pooled;  // an open audit may wait there, after a loss
  for (auto const& r : dealer_.pool().ranges()) pooled.insert(r);
  range_list fresh;
  for (auto const& r : again)
    for (std::uint64_t i = 0; i < r.count; ++i)
      if (!pooled.contains(r[i])) append(fresh, {r[i], 1, 1});
  put_back(fresh);
  enlist_root(out);
  if (stopping()) return;
  // What it holds runs elsewhere, as after a loss.
  stock_.lost(rank);
  stock_.again_soon();
  if (stock_.under_way())
    finish_stock(out);
  else
    take_stock(out);
  serve_all(out);
  push(out);
}

// If no other rank computes any more, the root does, unless it is at fault itself.
void farm_root::enlist_root(farm_actions& out) {
  if (audits_.at_fault(config_.root)) {
    if (dealer_.any_computes()) return;
    roll(out, &roll_call::task_failed, audits_.faults().front().task, config_.root,
         "no rank is left whose results can be believed");
    return;
  }
  dealer_.enlist_root(decided_);
  give(out);
}

}  // namespace skel::role
