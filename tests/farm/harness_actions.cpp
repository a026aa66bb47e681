// The harness's version of the work the engine does for the roles of a farm.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness.hpp"

namespace farm_harness {

namespace {

void add_ids(role::digest& d, std::vector<task_id> const& ids) {
  for (auto const id : ids) d.add(id);
  d.add(ids.size());
}

}  // namespace

void packet::add_to(role::digest& d) const { add_ids(d, content); }

void node::add_to(role::digest& d) const {
  d.add(member);
  for (auto const& t : threads) d.add(t ? t->first * 64 + t->count : 1U << 30);
  add_ids(d, held);
  add_ids(d, payloads);
}

void world::perform(int rank, bool from_root, role::farm_actions& list, thread* free) {
  if (fault_ != nullptr) fault_->wants(*this, rank, list);
  for (auto const& a : list) {
    bool const speaks = std::holds_alternative<farm::send>(a) || std::holds_alternative<role::tell_root>(a);
    require(!speaks || from_root || !at(rank).ended, fmt::format("rank {} speaks after its end", rank));
    perform(rank, a, free);
  }
  if (!recording_) release();
}

void world::perform(int rank, role::farm_action const& action, thread* free) {
  auto& n = at(rank);
  if (auto const* const s = std::get_if<farm::send>(&action)) {
    send(rank, s->to, s->what);
  } else if (std::holds_alternative<role::drain>(action)) {
    n.draining = true;
    n.held.clear();
    n.payloads.clear();
  } else if (auto const* const x = std::get_if<farm::execute>(&action)) {
    require(free != nullptr, "a range is run where no thread is free");
    run(rank, *free, x->range);
  } else if (auto const* const r = std::get_if<farm::record>(&action)) {
    require(recording_, "a task is recorded that no message brought");
    accepted_.push_back(r->range);
  } else if (auto const* const v = std::get_if<farm::accept>(&action)) {
    auto& t = tasks_.at(v->task);
    require(++t.recorded == 1, fmt::format("task {} is recorded twice", v->task));
    t.wrong = v->version != 0;
    sink_.queue.push_back(v->task);
  } else if (auto const* const w = std::get_if<farm::release>(&action)) {
    released_.push_back(w->rank);
  } else if (auto const* const d = std::get_if<farm::discard>(&action)) {
    discard(d->rank);
  } else if (auto const* const f = std::get_if<farm::forget>(&action)) {
    // As the engine does: of a steered source, the root keeps what it holds itself.
    bool const keeps = scenario_->steered;
    for (task_id const id :
         ids_of(keeps ? at(0).member.held().not_held({&f->range, 1}) : range_list{f->range}))
      tasks_.at(id).forgotten = true;
    if (root_role_.may_run_twice() && !keeps) at(0).member.drop(f->range);
  } else if (auto const* const l = std::get_if<farm::leave_out>(&action)) {
    leave_out(*l);
  } else if (auto const* const c = std::get_if<role::close>(&action)) {
    if (c->how.how == status::stopped_early && !root_role_.book().tasks.all_recorded()) check_none_works();
    call_roll(&role::roll_call::close, c->how);
  } else if (auto const* const b = std::get_if<role::abort>(&action)) {
    call_roll(&role::roll_call::abort, b->text);
  } else {
    performs(rank, action);
  }
}

void world::send(int rank, int to, role::farm_message const& what) {
  auto p = packet_of(what);
  if (auto const* const r = std::get_if<farm::results>(&what)) {
    p.content = std::exchange(at(rank).held, {});
    require(p.content == ids_of(r->ranges), fmt::format("rank {} says other results than it sends", rank));
  } else if (auto const given = given_tasks(what); !given.empty()) {
    p.content = ids_of({given.begin(), given.end()});
    if (std::holds_alternative<farm::give>(what))
      for (task_id const id : p.content) use_payload(rank, id);
    else
      check_given(p);
  }
  require(!p.content.empty() || !std::holds_alternative<farm::give>(what), "a victim gives nothing");
  post(rank, to, std::move(p));
}

// A rank wants the run to end early: what the others run is not lost.
void world::check_none_works() const {
  for (int r = 0; r < scenario_->ranks; ++r) {
    bool const counts = root_role_.book().dealer.ranks().alive(r) && !root_role_.audits().at_fault(r);
    bool const works = at(r).alive && !at(r).member.held().dry();
    require(!counts || !works, fmt::format("the run ends early while rank {} has tasks", r));
  }
}

void world::check_given(packet const& p) const {
  for (task_id const id : p.content) {
    require(id < supplied_, fmt::format("task {} is given before it exists", id));
    require(!scenario_->stream || !tasks_[id].forgotten, fmt::format("task {} is given, but forgotten", id));
  }
  // The event that makes the root give tasks may also show a difference that ends the run.
  require(!roll_.stopping() || (scenario_->audit > 0 && !was_stopping_), "tasks are given after stop");
}

// --- tasks and their payloads

void world::run(int rank, thread& on, task_range const& range) {
  require(!on, "a thread gets two ranges");
  require(!at(rank).ended, "a task is started after the end");
  require(!range.empty(), "a range without tasks is run");
  on = range;
  for (task_id const id : ids_of({range})) {
    require(!std::ranges::binary_search(scenario_->restored, id),
            fmt::format("task {} is run, but an earlier run has left its result", id));
    use_payload(rank, id);
  }
}

// In a stream, the root keeps the payloads until the tasks have results; other ranks use each once.
void world::use_payload(int rank, task_id id) {
  require(id < scenario_->tasks, fmt::format("task {} does not exist", id));
  if (!scenario_->stream) return;
  if (rank == 0)
    return require(!tasks_[id].forgotten, fmt::format("the root uses task {}, which is forgotten", id));
  auto& mine = at(rank).payloads;
  auto const found = std::ranges::find(mine, id);
  require(found != mine.end(), fmt::format("rank {} uses task {} without having it", rank, id));
  mine.erase(found);
}

// --- results

void world::hear(int from, packet const& p) {
  bool const was_stopping = roll_.stopping();
  auto const* const call = std::get_if<role::call_message>(&p.what);
  bool const late = call != nullptr && std::holds_alternative<role::hello>(*call);
  if (roll_.finished() ? from != 0 : roll_.stopping() && late)
    call_roll(&role::roll_call::say_again, from);  // it has not heard of the end
  else
    roll_.heard(from);
  if (call != nullptr && std::holds_alternative<role::please_stop>(*call))
    tell_root_role(&role::farm_root::please_stop);
  else if (call != nullptr)
    call_roll(&role::roll_call::on, from, *call);
  recording_ = std::holds_alternative<farm::results>(p.what);
  sender_ = from;
  if (recording_) {
    std::vector<role::task_version> versions;
    for (task_id const id : p.content)
      if (root_role_.compares(id)) versions.push_back({id, version(id, from)});
    root_role_.compared(std::move(versions));
  }
  tell_root_role(&role::farm_root::on, from, p.what);
  recording_ = false;
  sender_ = 0;
  if (!accepted_.empty()) take_results(from, p, was_stopping);
  release();
}

// Passes results to the sink as the root has decided: each result once, a merged value whole or not at all.
void world::take_results(int from, packet const& p, bool was_stopping) {
  auto const ids = ids_of(std::exchange(accepted_, {}));
  require(!was_stopping, "results are given to the sink after stop");
  auto in = p.content.begin();
  for (task_id const id : ids) {
    require(id < tasks_.size(), fmt::format("task {} does not exist", id));
    in = std::find(in, p.content.end(), id);
    require(in != p.content.end(), fmt::format("task {} is recorded without its result", id));
    ++in;
    require(++tasks_[id].recorded == 1, fmt::format("task {} is recorded twice", id));
  }
  require(!scenario_->merged || ids == p.content, "part of a merged result is recorded");
  if (scenario_->audit == 0) return sink_.push(ids);
  auto& waiting = waiting_[static_cast<std::size_t>(from)];
  waiting.insert(waiting.end(), ids.begin(), ids.end());
}

void world::release() {
  for (int const rank : std::exchange(released_, {})) {
    auto const ids = std::exchange(waiting_[static_cast<std::size_t>(rank)], {});
    for (task_id const id : ids) tasks_[id].wrong = version(id, rank) != 0;
    sink_.push(ids);
  }
}

void world::discard(int rank) {
  require(rank == scenario_->liar, fmt::format("rank {} is blamed, but does not lie", rank));
  for (task_id const id : std::exchange(waiting_[static_cast<std::size_t>(rank)], {})) --tasks_[id].recorded;
  if (rank == sender_) accepted_.clear();
}

void world::leave_out(farm::leave_out const& l) {
  auto const& s = *scenario_;
  auto& t = tasks_.at(l.task);
  if (l.late) {
    require(heavy(l.task) && s.late_from && l.task >= *s.late_from, "a task is late that is not");
    late_ = asked_to_stop_ = true;
  }
  require(s.on_error.collects || l.late, fmt::format("task {} is left out, but nothing allows that", l.task));
  require(t.recorded == 0, fmt::format("task {} has a result and is left out", l.task));
  require(++t.left_out == 1, fmt::format("task {} is left out twice", l.task));
  bool const killer = is_poison(l.task) || s.most_losses > 0 || l.late || (s.small_rank && heavy(l.task));
  require(killer || (fails(l.task, l.rank) && l.times >= s.on_error.times),
          fmt::format("task {} is left out, but has not failed often enough", l.task));
  sink_.leave_out(l.task);
}

}  // namespace farm_harness
