// The root of a farm names a victim to each idle rank when all tasks are granted, or gives it a copy of a
// task that runs on a slower rank. Tasks that are very late are copied before.
#include <algorithm>

#include "farm/role/late_tasks.hpp"
#include "farm/role/root.hpp"

namespace skel::role {

namespace {
// Seconds between two searches for late tasks.
constexpr double look_again = 0.01;
// After a search in vain, slower ranks do not search for this time per rank. A search takes some 50 ns per
// rank.
constexpr double in_vain = 5e-6;
}  // namespace

void farm_root::told(rank_id rank, std::optional<farm::load> const& here) {
  if (here) dealer_.loads().told(rank, *here);
}

void farm_root::on_ask(rank_id rank, farm::ask const& m, farm_actions& out) {
  if (directs()) {
    told(rank, m.here);
    if (m.refused_by && knows(*m.refused_by)) dealer_.loads().found_empty(*m.refused_by);
    if (dealer_.closed(rank) && dealer_.computes(rank)) dealer_.loads().seeks(rank);
    if (dealer_.closed(rank) && dealer_.pool().empty() && no_more() && direct(rank, true, out)) return;
  }
  dealer_.asks(rank, m.wanted);
  dealer_.serve(rank, no_more(), decided_);
  give(out);
}

// Returns true if the rank was given a victim or, with `copies`, a copy.
bool farm_root::direct(rank_id rank, bool copies, farm_actions& out) {
  if (stopping()) return false;
  auto& loads = dealer_.loads();
  if (auto const theft = loads.theft_for(rank)) {
    loads.moves(theft->victim, rank, theft->tasks);
    out.push_back(farm::send{rank, farm::take_from{theft->victim, theft->tasks}});
    return true;
  }
  return copies && config_.policy.copies && give_copy(rank, out);
}

bool farm_root::may_copy(rank_id owner, task_range const& tasks) const {
  return dealer_.alive(owner) && !recorded_.contains(tasks.last()) && !suspects_.contains(tasks.last()) &&
         !(config_.root_in_place && owner == config_.root);
}

bool farm_root::give_copy(rank_id rank, farm_actions& out) {
  double const speed = dealer_.loads().speed_of_thread(rank);
  bool const searched = now_ < vain_until_;
  if (searched && speed <= vain_speed_) return false;
  auto const allowed = [&](rank_id owner, task_range const& tasks) { return may_copy(owner, tasks); };
  auto const copy = copy_for(rank, begun_, dealer_.loads(), dealer_.costs(), now_, allowed);
  if (!copy) {
    vain_speed_ = searched ? std::max(speed, vain_speed_) : speed;
    vain_until_ = now_ + std::min(look_again, in_vain * static_cast<double>(begun_.ranks()));
    return false;
  }
  auto const tasks = not_recorded({*copy});  // its first tasks may be done
  ++copies_;
  dealer_.loads().granted(rank, count_tasks(tasks));
  begun_.given(rank, dealer_.threads(rank), tasks, now_);
  out.push_back(farm::send{rank, farm::grant{tasks, true}});
  return true;
}

// Serves ranks that asked in vain, once there is something for them. Late tasks are searched for at
// intervals, because that looks at all ranks. `at_once`: skip the pause.
void farm_root::direct_idle(bool at_once, farm_actions& out) {
  auto const& loads = dealer_.loads();
  if (loads.idle().empty() || stopping() || !no_more() || !dealer_.pool().empty()) return;
  bool const copies = at_once || now_ >= looked_ + look_again;
  if (!loads.any_waiting() && !copies) return;
  if (copies) looked_ = now_;
  if (at_once) vain_until_ = now_;
  auto const idle = loads.idle();
  double vain = -1, vain_thread = -1;  // speeds of a rank for which there was nothing
  for (rank_id const rank : idle) {
    double const speed = loads.speed(rank);
    double const speed_of_thread = loads.speed_of_thread(rank);
    if (speed <= vain && speed_of_thread <= vain_thread) continue;  // nor is there for a slower one
    if (direct(rank, copies, out)) {
      vain = vain_thread = -1;
    } else if (speed >= vain && speed_of_thread >= vain_thread) {
      vain = speed;
      vain_thread = speed_of_thread;
    }
  }
}

// While other tasks wait: gives copies of those that would end after all others to fast ranks, which run them
// next.
void farm_root::give_early_copies(farm_actions& out) {
  if (!directs() || !config_.policy.copies || stopping() || !no_more() || dealer_.holds_back()) return;
  auto const& loads = dealer_.loads();
  auto const& pool = dealer_.pool();
  if (pool.empty() && !loads.any_waiting()) return;
  if (now_ < looked_early_ + std::max(look_again, in_vain * static_cast<double>(begun_.ranks()))) return;
  looked_early_ = now_;
  double const remaining = loads.remaining(pool.room() ? pool.tasks() : 0, dealer_.computing());
  auto const computes = [&](rank_id r) { return dealer_.computes(r) && dealer_.said_hello(r); };
  auto const allowed = [&](rank_id owner, task_range const& tasks) { return may_copy(owner, tasks); };
  double const unreported = static_cast<double>(spacing_) * 1e-6;
  for (auto const& copy :
       early_copies(begun_, loads, dealer_.costs(), now_, unreported, remaining, computes, allowed)) {
    ++copies_;
    out.push_back(farm::send{copy.rank, farm::grant_alone{{copy.task, 1, 1}, false}});
  }
}

}  // namespace skel::role
