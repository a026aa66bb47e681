#include "root.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "protocol/roll_call.hpp"

namespace skel::role {

team_root::team_root(team_root_config config)
    : config_(std::move(config)),
      window_(config_.window),
      tasks_({.restored = config_.restored}),
      ranks_(config_.ranks, config_.root, config_.first_computing, config_.hosts),
      faults_(config_.most_losses) {}

// --- the source and the sink

void team_root::supplied(std::uint64_t available, bool ended, std::span<int const> sizes,
                         std::span<double const> costs, team_actions& out) {
  if (stopped_) return;
  auto const first = tasks_.available();
  std::ignore = tasks_.supplied(available, ended);
  queue_.set_costs(costs);
  for (task_id id = first; id < available; ++id)
    if (tasks_.recorded().contains(id))
      out.push_back(team::forget{id});
    else
      queue_.add(id, static_cast<std::uint64_t>(sizes[id - first]));
  queue_.sort();
  if (auto const unknown = tasks_.source_ended() ? tasks_.unknown_restored() : std::nullopt)
    return close({.how = outcome::status::source_failed,
                  .text = "it has " + std::to_string(tasks_.available()) +
                          " tasks, but the checkpoint holds the result of task " + std::to_string(*unknown)},
                 out);
  form(out);
  maybe_complete(out);
}

void team_root::sunk(std::uint64_t count, task_id next, team_actions& out) {
  tasks_.sunk(count, next);
  if (config_.window > 0) form(out);
  maybe_complete(out);
}

void team_root::resize_window(std::uint64_t tasks) {
  window_ = std::min(config_.window, std::max<std::uint64_t>(tasks, ranks_.able()));
}

// The sink may still throw while results wait for it, so the run ends only when it has received all.
void team_root::maybe_complete(team_actions& out) {
  if (stopped_) return;
  if (tasks_.complete())
    close({.tasks = tasks_.sunk()}, out);
  else if (ends_ && jobs_.size() == 0 && tasks_.all_sunk(config_.ordered))
    close({.how = outcome::status::stopped_early, .tasks = tasks_.sunk()}, out);
}

void team_root::please_stop(team_actions& out) {
  ends_ = true;
  maybe_complete(out);
}

void team_root::pause(bool on, team_actions& out) {
  if (std::exchange(paused_, on) && !on) form(out);
}

void team_root::close(outcome how, team_actions& out) {
  stopped_ = true;
  out.push_back(role::close{std::move(how)});
}

void team_root::cancel(task_id task, team_actions& out) {
  if (stopped_) return;
  tasks_.leave_out(task);
  faults_.settle(task);
  if (queue_.remove(task)) out.push_back(team::forget{task});  // a team that is to run it needs it
  form(out);
  maybe_complete(out);
}

// --- teams

bool team_root::has_room(task_id id) const {
  if (window_ == 0) return true;
  if (config_.ordered) return id < tasks_.sink_next() + window_;
  auto const begun = tasks_.available() - queue_.tasks() - faults_.accused();
  return begun < tasks_.sunk() + tasks_.left_out() + window_;
}

void team_root::form(team_actions& out) {
  if (!ranks_.here()) return;
  while (!stopped_ && !paused()) {
    auto const next = queue_.take(ranks_.free(), ranks_.able(), [&](task_id id) { return has_room(id); });
    if (!next) return;
    jobs_.give(next->task, next->wanted, next->size, ranks_, out);
  }
}

// --- messages

void team_root::on(rank_id from, team_message const& m, team_actions& out) {
  if (!ranks_.has(from)) return;
  heard(from, out);
  std::visit(
      [&](auto const& what) {
        if constexpr (requires { answer(from, what, out); }) answer(from, what, out);
      },
      m);
}

void team_root::answer(rank_id rank, call_message const& m, team_actions& out) {
  if (!std::holds_alternative<hello>(m)) return;
  ranks_.hello(rank);
  form(out);
}

void team_root::answer(rank_id rank, team::overran const& m, team_actions& out) {
  auto* const j = jobs_.find(rank, m.job);
  if (j == nullptr) return;
  j->overran.insert(rank);
  jobs_.fail(rank, *j, m.text, ranks_, out);
}

void team_root::answer(rank_id rank, team::retires const& m, team_actions& out) {
  ranks_.retires(rank, m.number);
  ranks_.let_go({rank}, out);
  form(out);
}

bool team_root::awaits_result(rank_id from, job_id id) {
  auto const* const j = jobs_.find(from, id);
  return j != nullptr && j->ranks.front() == from;
}

void team_root::answer(rank_id rank, team::ended const& m, team_actions& out) {
  if (!ranks_.left(rank, m.job)) return;
  auto* const j = jobs_.find(rank, m.job);
  if (j == nullptr) return form(out);  // the rank was thought lost
  if (auto over = jobs_.ended(rank, *j, m, ranks_, out)) settle(std::move(*over), out);
}

// The task has ended on all ranks of its team, or they are lost.
void team_root::settle(team_job j, team_actions& out) {
  ranks_.release(j.ranks);
  ranks_.let_go(j.ranks, out);
  bool const cancelled = tasks_.recorded().contains(j.task);
  if (j.has_result && !j.failed() && !stopped_ && !cancelled) {
    tasks_.record({j.task, 1, 1});
    faults_.settle(j.task);
    out.push_back(team::accept{j.number, j.task, std::move(j.ranks)});
    out.push_back(team::forget{j.task});
  } else {
    out.push_back(team::drop{j.number});
    if (stopped_) return;
    if (cancelled) {
      out.push_back(team::forget{j.task});
    } else if (!j.failed()) {
      ++handed_out_again_;
      if (faults_.lost(j.task, j.wanted, std::move(j.lost), ranks_.losses()))
        queue_.put_back(j.task, j.wanted);
    } else if (auto const times = faults_.failed(j.task); times < config_.on_error.times) {
      queue_.put_back(j.task, j.wanted);
    } else {
      give_up({j.task, j.failure->first, times, j.failure->second}, out);
    }
  }
  form(out);
  maybe_complete(out);
}

void team_root::give_up(farm::leave_out task, team_actions& out) {
  if (!config_.on_error.collects) {
    if (task.times > 1 && !task.ended_ranks)
      task.text += " (the task failed " + std::to_string(task.times) + " times)";
    return close({.how = outcome::status::task_failed,
                  .task = task.task,
                  .rank = task.rank,
                  .text = std::move(task.text)},
                 out);
  }
  tasks_.leave_out(task.task);
  out.push_back(team::forget{task.task});
  out.push_back(std::move(task));
}

// --- losses

void team_root::lost(rank_id rank, team_actions& out) {
  if (!ranks_.has(rank) || rank == config_.root || !ranks_.lost(rank)) return;
  auto const inside = ranks_.inside(rank);
  if (auto* const j = inside ? jobs_.find(rank, *inside) : nullptr)
    if (auto over = jobs_.lost(rank, *j, ranks_, out)) settle(std::move(*over), out);
  form(out);
}

// A rank that speaks is not lost. It may still be inside a task that its team has given up.
void team_root::heard(rank_id rank, team_actions& out) {
  if (!ranks_.heard(rank)) return;
  if (auto const inside = ranks_.inside(rank))
    out.push_back(team::send{rank, team::cancel{*inside, rank, "this rank was thought lost"}});
  jobs_.heard(rank);
  for (auto const& [task, wanted] : faults_.heard(rank, ranks_.losses())) queue_.put_back(task, wanted);
}

void team_root::tick(team_actions& out) {
  if (stopped_) return;
  if (ranks_.tick()) form(out);
  auto const guilty = faults_.tick();
  if (!guilty) return;
  give_up({guilty->task, guilty->ranks.empty() ? 0 : guilty->ranks.back(),
           static_cast<unsigned>(guilty->ranks.size()), text_of(*guilty), true},
          out);
  form(out);
  maybe_complete(out);
}

// --- team_queue

void team_queue::add(task_id task, std::uint64_t wanted) {
  auto& same = waiting_[wanted];
  if (costs_.empty() && !same.empty() && same.back().last() + 1 == task)
    ++same.back().count;
  else
    same.push_back({task, 1, 1});
  ++tasks_;
}

void team_queue::sort() {
  if (costs_.empty()) return;
  for (auto& [size, tasks] : waiting_)
    std::sort(tasks.begin(), tasks.end(), [&](auto& a, auto& b) { return before(a.first, b.first); });
}

void team_queue::put_back(task_id task, std::uint64_t wanted) {
  auto& same = waiting_[wanted];
  auto const at = std::lower_bound(same.begin(), same.end(), task,
                                   [&](auto const& r, task_id id) { return before(r.first, id); });
  same.insert(at, {task, 1, 1});
  ++tasks_;
}

bool team_queue::remove(task_id task) {
  for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
    range_list left;
    for (auto const& r : at->second)
      for (std::uint64_t i = 0; i < r.count; ++i)
        if (r[i] != task) append(left, {r[i], 1, 1});
    if (auto const n = count_tasks(left); n < count_tasks({at->second.begin(), at->second.end()})) {
      at->second.assign(left.begin(), left.end());
      --tasks_;
      if (n == 0) waiting_.erase(at);
      return true;
    }
  }
  return false;
}

team_queue::entry team_queue::take(by_size::iterator at, std::uint64_t size) {
  auto& tasks = at->second;
  entry const e{tasks.front().take_front(1).first, at->first, size};
  if (tasks.front().empty()) tasks.pop_front();
  if (tasks.empty()) waiting_.erase(at);
  --tasks_;
  return e;
}

// Whether task a is to begin before b, if their teams are of one size.
bool team_queue::before(task_id a, task_id b) const {
  if (costs_.empty() || costs_[a] == costs_[b]) return a < b;
  return costs_[a] > costs_[b];
}
}  // namespace skel::role
