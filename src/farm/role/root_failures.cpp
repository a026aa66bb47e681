// The root of a farm when tasks throw and the run goes on: failed tasks run again, or are left out.
#include <algorithm>
#include <utility>

#include "farm/role/root.hpp"

namespace skel::role {

void farm_root::on_task_failed(rank_id from, farm::task_failed const& m, farm_actions& out) {
  task_range const task{m.task, 1, 1};
  if (stopping() || !tasks_exist(from, {task}, out)) return;
  stock_.moved();
  dealer_.finished(from, 1);
  if (watches(from)) begun_.results(from, dealer_.threads(from), {task}, {}, now_);
  if (suspects_.acquit(m.task)) give_suspects(out);  // it throws, so it ended no rank
  if (audits_.open(m.task)) {                        // it ran on another rank
    audits_.threw(m.task, from);
    give_audits(out);
    maybe_complete(out);
    return;
  }
  if (recorded_.contains(m.task) || !failed_.add(m.task, from, m.nth)) return;
  if (auto const times = failed_.times(m.task); times >= config_.on_error.times) {
    give_up({m.task, from, times, m.text}, out);
    return;
  }
  failed_.wait(m.task);
  give_failed(out);
}

// Gives failed tasks to ranks where they have not failed yet.
void farm_root::give_failed(farm_actions& out) {
  if (stopping() || failed_.empty()) return;
  auto const& pool = dealer_.pool().ranges();
  for (task_id const id : failed_.waiting()) {
    bool const pooled =  // the rank was thought lost, and its tasks are given again anyway
        handed_out_again_ > 0 &&
        std::any_of(pool.begin(), pool.end(), [&](auto const& r) { return r.contains(id); });
    if (pooled) {
      failed_.given(id);
      continue;
    }
    auto const to = taker_of_failed(id);
    if (!to) continue;  // a rank that has not said hello yet will take it
    failed_.given(id);
    if (stock_.under_way()) stock_.claim({id, 1, 1});
    out.push_back(farm::send{*to, farm::grant_alone{{id, 1, 1}, false}});
  }
}

std::optional<rank_id> farm_root::taker_of_failed(task_id id) const {
  auto const fresh = [&](rank_id rank) {
    return !config_.on_error.elsewhere || !failed_.failed_on(id, rank);
  };
  auto const takers = dealer_.takers_alone();  // the root only if it is alone
  if (auto const at = std::find_if(takers.begin(), takers.end(), fresh); at != takers.end()) return *at;
  rank_id const root = config_.root;
  if (dealer_.computes(root) && dealer_.said_hello(root) && fresh(root)) return root;
  for (rank_id r = 0; r < config_.ranks; ++r)
    if (dealer_.computes(r) && !dealer_.said_hello(r) && fresh(r)) return std::nullopt;
  if (takers.empty()) return std::nullopt;
  return takers[failed_.times(id) % takers.size()];
}

// The task has failed too often, or it ends every rank that runs it.
void farm_root::give_up(farm::leave_out task, farm_actions& out) {
  if (!config_.on_error.collects) {
    if (task.times > 1) task.text += " (the task failed " + std::to_string(task.times) + " times)";
    roll(out, &roll_call::task_failed, task.task, task.rank, std::move(task.text));
    return;
  }
  task_range const range{task.task, 1, 1};
  recorded_.insert(range.first);
  dealer_.pool().remove(range, recorded_);
  failed_.settle(range);
  suspects_.acquit(range.first);
  ++left_out_;
  out.push_back(std::move(task));
  out.push_back(farm::forget{range});
  dealer_.pool().sunk(sunk_ + left_out_, sink_next_);
  serve_all(out);
  if (!dealer_.pool().empty()) push(out);
  maybe_complete(out);
}

}  // namespace skel::role
