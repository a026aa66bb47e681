// The work of a simulated farm: tasks that run, a source that supplies them, a sink that takes results.
#include <fmt/format.h>

#include <algorithm>

#include "harness.hpp"

namespace harness {

void world::idle(event const& e) {
  auto& n = at(e.a);
  auto& t = n.threads[static_cast<std::size_t>(e.b)];
  require(!t.todo, "a busy thread asks for work");
  n.rested = true;
  role::farm_actions list;
  n.worker.idle(e.n, list);
  perform(e.a, false, list, &t);
}

void world::start_thread(int rank, thread& t, task_range const& range) {
  auto& n = at(rank);
  require(!t.todo, "a thread gets two ranges");
  require(!n.ended, "a task is started after the end");
  require(!range.empty() && range.last() < scenario_->tasks, "a range without tasks is run");
  t.todo = range;
  for (task_id id : ids_of({range}))
    require(!std::binary_search(scenario_->restored.begin(), scenario_->restored.end(), id),
            fmt::format("task {} is run, but an earlier run has left its result", id));
  if (!scenario_->stream) return;
  for (std::uint64_t i = 0; i < range.count; ++i) {
    if (rank == 0) {
      require(!state_.forgotten[range[i]],
              fmt::format("the root runs task {}, which is forgotten", range[i]));
      continue;
    }
    auto const mine = std::find(n.payloads.begin(), n.payloads.end(), range[i]);
    require(mine != n.payloads.end(), fmt::format("rank {} runs task {} without having it", rank, range[i]));
    n.payloads.erase(mine);
  }
}

bool world::is_poison(task_id id) const {
  auto const& p = scenario_->poison;
  return std::find(p.begin(), p.end(), id) != p.end();
}

bool world::fails(task_id id, int rank) const {
  auto const& s = *scenario_;
  if (s.failing_rank) return rank == *s.failing_rank;
  return s.failing_from && id >= *s.failing_from && (id - *s.failing_from) % s.failing_every == 0;
}

void world::finish(event const& e) {
  auto& n = at(e.a);
  auto& t = n.threads[static_cast<std::size_t>(e.b)];
  require(t.todo.has_value(), "a thread without tasks finishes some");
  task_range rest = *t.todo;
  std::uint64_t good = 0;
  for (; good < e.n && !fails(rest[good], e.a); ++good)
    if (is_poison(rest[good])) {
      take_poison(e.a, rest[good], e.more);
      return;
    }
  bool const throws = good < e.n;
  auto const front = rest.take_front(good);
  bool const part = !throws && !rest.empty();
  t.todo.reset();
  role::farm_actions list;
  if (!front.empty()) {
    if (!n.draining)
      for (std::uint64_t i = 0; i < front.count; ++i) n.held.push_back(front[i]);
    // Some ranks are faster than others, the root is the slowest. With every other seed most tasks run for
    // longer than they are said to cost, so they are late.
    double const cost = scenario_->seed % 2 == 0 ? 0.01 : 0.001;
    n.worker.measured(static_cast<double>(front.count),
                      cost * (e.a % 3 == 0 ? 4 : e.a % 3) * static_cast<double>(front.count));
    n.worker.finished(front, throws || part ? 0 : e.more, list);
    perform(e.a, false, list, throws || part ? nullptr : &t);
  }
  bool left = part;
  if (throws) {
    state_.task_failed = true;
    n.failed = true;
    auto const id = rest.first;
    rest.take_front(1);
    bool const goes_on = scenario_->on_error.goes_on();
    left = goes_on && !rest.empty();
    if (goes_on)
      n.worker.threw(id, "it throws", list);
    else
      n.worker.failed(id, "it throws", rest, list);
  }
  if (left && n.draining)
    n.worker.finished(rest, 0, list);
  else if (left)
    t.todo = rest;
  perform(e.a, false, list);
}

void world::leave_out(role::farm::leave_out const& task) {
  auto const& s = *scenario_;
  require(s.on_error.collects, fmt::format("task {} is left out, but nothing allows that", task.task));
  require(!state_.recorded.at(task.task), fmt::format("task {} has a result and is left out", task.task));
  require(++state_.left_out.at(task.task) == 1, fmt::format("task {} is left out twice", task.task));
  bool const killer = is_poison(task.task) || s.most_losses > 0;
  require(killer || (fails(task.task, task.rank) && task.times >= s.on_error.times),
          fmt::format("task {} is left out, but has not failed often enough", task.task));
  if (s.ordered) state_.sink_queue.push_back({task.task});
}

void world::supply(event const& e) {
  state_.supplied = std::min(scenario_->tasks, state_.supplied + e.n);
  state_.source_ended = state_.source_ended || (e.more == 1 && state_.supplied == scenario_->tasks);
  role::farm_actions list;
  state_.ledger.supplied(state_.supplied, state_.source_ended, list);
  perform(0, true, list);
}

void world::sink(std::uint64_t most) {
  if (state_.ledger.stopping()) {  // as the engine does: drops waiting results
    state_.sink_queue.clear();
    return;
  }
  auto& queue = state_.sink_queue;
  std::optional<task_id> bad;
  auto const give = [&](task_id id) {
    if (scenario_->sink_fails_at == state_.sunk) bad = id;
    if (!bad) ++state_.sunk;
  };
  std::uint64_t entries = 0;
  for (; entries < queue.size() && entries < most && !bad; ++entries)
    for (task_id id : queue[entries]) {
      if (bad) break;
      if (scenario_->ordered)
        state_.early[id] = true;
      else
        give(id);
    }
  queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(entries));
  while (scenario_->ordered && !bad && state_.next < scenario_->tasks && state_.early[state_.next]) {
    if (!state_.left_out[state_.next]) give(state_.next);
    if (!bad) ++state_.next;
  }
  role::farm_actions list;
  if (bad) {
    state_.sink_failed = true;
    state_.ledger.sink_failed(*bad, "disk full", list);
  }
  auto const count = fault_ != nullptr ? fault_->sunk(state_.sunk) : state_.sunk;
  state_.ledger.sunk(count, scenario_->ordered ? state_.next : 0, list);
  perform(0, true, list);
}

}  // namespace harness
