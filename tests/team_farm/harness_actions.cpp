// The harness's version of the work the engine does for the roles of a farm of teams.
#include <algorithm>

#include "harness.hpp"

namespace team_harness {

job_record& world::job(job_id id) {
  auto const at = jobs_.find(id);
  require(at != jobs_.end(), "a job that was never given");
  return at->second;
}

void world::perform(int rank, role::team_actions& list) {
  if (fault_ != nullptr) fault_->wants(*this, rank, list);
  for (auto const& action : list) perform(rank, action);
  // The others of its team do not wait for it, and it must not wait for them.
  auto const& n = at(rank);
  require(!n.ended || (!n.todo && !n.running) || n.gave_up, "a rank ends in a job");
  if (rank == 0) deliver_own();
}

void world::perform(int rank, role::team_action const& action) {
  auto& n = at(rank);
  if (auto const* const s = std::get_if<team::send>(&action)) {
    send(rank, s->to, s->what);
  } else if (auto const* const b = std::get_if<team::begin>(&action)) {
    require(!n.todo && !n.running, "a rank is in two jobs");
    require(!n.ended, "a task begins after the end");
    n.todo = b->what;
  } else if (auto const* const q = std::get_if<team::abandon>(&action)) {
    require(n.todo || n.running, "a rank that runs nothing gives up");
    require(n.role.cancelled(), "a rank gives up a task that is not cancelled");
    n.gave_up = true;
  } else if (auto const* const a = std::get_if<team::accept>(&action)) {
    accept(*a);
  } else if (auto const* const d = std::get_if<team::drop>(&action)) {
    drop(d->job);
  } else if (auto const* const f = std::get_if<team::forget>(&action)) {
    forget(f->task);
  } else if (auto const* const l = std::get_if<role::farm::leave_out>(&action)) {
    leave_out(*l);
  } else if (std::holds_alternative<role::drain>(action)) {
    n.draining = true;
  } else if (auto const* const c = std::get_if<role::close>(&action)) {
    call_roll(&role::roll_call::close, c->how);
  } else {
    performs(rank, action);
  }
}

void world::send(int rank, int to, role::team_message const& what) {
  if (auto const* const r = std::get_if<team::run>(&what)) check_given(to, *r);
  auto p = packet_of(what);
  if (std::holds_alternative<team::ended>(what)) p.body = at(rank).made;
  if (rank != 0 || to != 0) return post(rank, to, std::move(p));
  own_.push_back(std::move(p));
}

// As the engine does: after the list of actions that contains the message.
void world::deliver_own() {
  if (std::exchange(delivering_, true)) return;
  while (!own_.empty()) {
    auto p = std::move(own_.front());
    own_.pop_front();
    if (!at(0).ended && (fault_ == nullptr || fault_->receives(*this, 0, 0, p.what))) receive(0, 0, p);
  }
  delivering_ = false;
}

// --- results

void world::accept(team::accept const& a) {
  auto& j = job(a.job);
  auto& t = tasks_.at(a.task);
  require(!t.accepted && !t.left_out && !t.restored, "a task has two results");
  require(!std::exchange(j.settled, true), "a job ends twice");
  require(j.what.task.first == a.task && j.ranks == a.ranks, "a result is taken for that of another task");
  auto const found = kept_.extract(a.job);
  require(!found.empty(), "a result is accepted that is not kept");
  auto const& body = found.mapped();
  require(body.whole && body.job == a.job && body.task == a.task, "the result of a task that has not ended");
  t.accepted = true;
  sink_.queue.push_back(a.task);
}

void world::drop(job_id id) {
  require(!std::exchange(job(id).settled, true), "a job ends twice");
  kept_.erase(id);
}

void world::forget(task_id id) {
  require(!std::exchange(tasks_.at(id).forgotten, true), "a payload is dropped twice");
}

void world::leave_out(role::farm::leave_out const& l) {
  auto& t = tasks_.at(l.task);
  require(!t.accepted && !t.left_out && !t.restored, "a task is left out that has a result");
  require(scenario_->on_error.collects, "a task is left out, but nothing allows that");
  bool const blame = is_blamed(l.task);
  require(blame || failures(l.task) >= scenario_->on_error.times, "a task is left out too early");
  blamed_ = blamed_ || blame;
  t.left_out = true;
  sink_.leave_out(l.task);
}

// --- jobs

void world::check_given(int to, team::run const& r) {
  auto& j = jobs_[r.job];
  auto& t = tasks_.at(r.task.first);
  if (j.ranks.empty()) {
    j.what = r;
    for (auto const& range : r.ranks)
      for (std::uint64_t i = 0; i < range.count; ++i) j.ranks.push_back(static_cast<int>(range[i]));
    j.number = t.jobs++;
    check_new(j);
  }
  require(j.what == r, "ranks of a team are given different tasks");
  require(std::count(j.ranks.begin(), j.ranks.end(), to) == 1, "a rank is given the task of another team");
  require(j.sent.insert(to).second, "a rank is given a task twice");
  auto& inside = inside_[static_cast<std::size_t>(to)];
  require(!inside, "a rank is given a task while it runs another one");
  inside = r.job;
}

void world::check_new(job_record const& j) const {
  auto const& s = *scenario_;
  auto const id = j.what.task.first;
  auto const& t = tasks_[id];
  require(j.what.task.count == 1 && id < supplied_, "a task is given that the source has not produced");
  require(!t.accepted && !t.left_out && !t.restored, "a task is given that has a result");
  require(!roll_.stopping() && !none_begins_, "a task is given after the stop");
  for (auto const& [other, k] : jobs_)
    require(&k == &j || k.settled || k.what.task.first != id, "a task runs on two teams");
  require(std::is_sorted(j.ranks.begin(), j.ranks.end()) &&
              std::adjacent_find(j.ranks.begin(), j.ranks.end()) == j.ranks.end(),
          "a rank is twice in a team");
  auto const size = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(s.sizes[id]), 1,
                                              std::max<std::uint64_t>(able(), 1));
  require(j.ranks.size() == size, "a team has the wrong size");
  for (int const r : j.ranks) {
    require(seen_alive_.at(static_cast<std::size_t>(r)), "a lost rank is in a team");
    require(!leaves_.at(static_cast<std::size_t>(r)), "a rank that is to leave is in a new team");
    require(computes(r) || enlisted_, "the root computes while it only serves");
    require(s.host(r) == s.host(j.ranks.front()), "a team spans hosts");
  }
  check_team(j);
  check_window(id);
  if (j.number > 0 || s.costs.empty()) return;
  for (task_id other = 0; other < s.costs.size(); ++other)
    require(tasks_[other].jobs > 0 || tasks_[other].restored || s.sizes[other] != s.sizes[id] ||
                s.costs[other] <= s.costs[id],
            "a task begins before a more costly one");
}

// Calls of a team are numbered: its ranks must have made the same ones.
void world::check_team(job_record const& j) const {
  for (auto const& [id, k] : jobs_) {
    if (&k == &j || k.what.formed != j.what.formed) continue;
    require(k.ranks == j.ranks, "two teams have the same number");
    require(k.completed.size() == k.ranks.size(), "a team runs another task after a failure");
  }
  require(j.what.formed == j.what.job || jobs_.contains(j.what.formed), "a team that was never formed");
}

void world::check_window(task_id task) const {
  auto const& s = *scenario_;
  if (s.window == 0) return;
  if (s.ordered) return require(task < told_next_ + s.window, "a task is outside the window");
  std::uint64_t begun = 0;
  for (auto const& t : tasks_) begun += t.accepted ? 1 : 0;
  for (auto const& [id, j] : jobs_) begun += j.settled ? 0 : 1;
  require(begun <= told_sunk_ + s.window, "more tasks have begun than the window allows");
}

}  // namespace team_harness
