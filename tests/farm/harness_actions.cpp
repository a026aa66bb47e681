// Does the engine's part for the farm's roles, and checks the invariants.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness.hpp"
#include "skel/bytes.hpp"

namespace harness {

namespace {

// Every message goes through the codec that the wires use.
role::farm_message through_codec(role::farm_message const& m) {
  std::vector<std::byte> bytes;
  role::encode(m, bytes);
  std::span<std::byte const> rest(bytes);
  auto read = role::decode<role::farm_message>(rest);
  require(read == m && rest.empty(), fmt::format("message {} is not read as written", m.index()));
  return read;
}

}  // namespace

void world::perform(int rank, bool from_ledger, role::farm_actions& list, thread* t) {
  auto& n = at(rank);
  if (fault_ != nullptr) fault_->wants(*this, rank, list);
  for (auto& a : list) {
    if (auto* const s = std::get_if<role::farm::send>(&a)) {
      require(from_ledger || !n.ended, fmt::format("rank {} speaks after its end", rank));
      send(rank, s->to, s->what);
    } else if (auto* const root = std::get_if<role::tell_root>(&a)) {
      require(!n.ended, fmt::format("rank {} speaks after its end", rank));
      send(rank, 0, root->what);
    } else if (std::holds_alternative<role::drain>(a)) {
      n.draining = true;
      n.held.clear();
      n.payloads.clear();
    } else if (auto* const x = std::get_if<role::farm::execute>(&a)) {
      require(t != nullptr, "a range is run where no thread is free");
      start_thread(rank, *t, x->range);
    } else if (auto* const r = std::get_if<role::farm::record>(&a)) {
      require(delivering_, "a task is recorded that no message brought");
      accepted_.push_back(r->range);
    } else if (auto const* const v = std::get_if<role::farm::accept>(&a)) {
      accept(*v);
    } else if (auto const* const w = std::get_if<role::farm::release>(&a)) {
      released_.push_back(w->rank);
    } else if (auto const* const d = std::get_if<role::farm::discard>(&a)) {
      discard(d->rank);
    } else if (auto* const f = std::get_if<role::farm::forget>(&a)) {
      for (task_id id : ids_of({f->range})) state_.forgotten.at(id) = 1;
      if (state_.ledger.may_run_twice()) at(0).worker.drop(f->range);  // as the engine does
    } else if (auto const* const l = std::get_if<role::farm::leave_out>(&a)) {
      leave_out(*l);
    } else if (auto* const end = std::get_if<role::end>(&a)) {
      require(!n.ended, fmt::format("rank {} ends twice", rank));
      n.ended = true;
      n.outcome = end->how;
    } else {
      require(scenario_->other_call.has_value(), "the run fails: " + std::get<role::fail>(a).text);
      n.ended = true;
      n.outcome.text = "failed";
    }
  }
  list.clear();
  if (!delivering_) sink_released();
}

// --- audits

std::uint64_t world::version(task_id id, int rank) const {
  return scenario_->liar == rank && id % scenario_->lies_in == 0 ? 1 : 0;
}

void world::accept(role::farm::accept const& v) {
  require(++state_.recorded.at(v.task) == 1, fmt::format("task {} is recorded twice", v.task));
  state_.wrong[v.task] = v.version != 0;
  state_.sink_queue.push_back({v.task});
}

void world::discard(int rank) {
  require(rank == scenario_->liar, fmt::format("rank {} is blamed, but does not lie", rank));
  for (task_id id : std::exchange(state_.waiting[static_cast<std::size_t>(rank)], {})) --state_.recorded[id];
  if (rank == sender_) accepted_.clear();
}

void world::sink_released() {
  for (int const rank : std::exchange(released_, {})) {
    auto& waiting = state_.waiting[static_cast<std::size_t>(rank)];
    for (task_id id : waiting) state_.wrong[id] = version(id, rank) != 0;
    if (!waiting.empty()) state_.sink_queue.push_back(std::exchange(waiting, {}));
  }
}

// Whether the ranks may disagree without a third one that settles it.
bool world::may_be_unsettled() const {
  auto const& s = *scenario_;
  int const computing = s.ranks - (s.root_serves ? 1 : 0);
  return s.liar && (computing < 3 || !s.calm_but_for_the_liar() || s.failing_from || s.failing_rank);
}

// If all tasks are audited, or the liar is found, none of its results is in the sink, or all of them are
// named.
void world::check_audits() const {
  auto const& s = *scenario_;
  auto const& audits = state_.ledger.audits();
  std::vector<bool> named(s.tasks);
  for (auto const& f : audits.faults()) {
    require(!s.audit_holds || count_tasks(f.released) <= audits.unchecked(),
            "results are in the sink that had to wait");
    for (task_id id : ids_of(f.released)) named[id] = true;
  }
  bool const all = s.audit >= 1 && audits.unchecked() == 0;
  if (audits.faults().empty() && !all) return;
  for (task_id id = 0; id < s.tasks; ++id)
    require(!state_.wrong[id] || named[id], fmt::format("the sink has a wrong result of task {}", id));
}

void world::send(int from, int to, role::farm_message const& m) {
  auto& n = at(from);
  packet p;
  auto const given = given_tasks(m);
  if (auto const* const r = std::get_if<role::farm::results>(&m)) {
    p.content = std::exchange(n.held, {});
    require(p.content == ids_of(r->ranges), fmt::format("rank {} says other results than it sends", from));
  } else if (!given.empty() && !std::holds_alternative<role::farm::give>(m)) {
    p.content = ids_of({given.begin(), given.end()});
    for (task_id id : p.content) {
      require(id < state_.supplied, fmt::format("task {} is given before it exists", id));
      require(!scenario_->stream || !state_.forgotten[id],
              fmt::format("task {} is given, but forgotten", id));
    }
    // The event that makes the ledger give tasks may also show a difference that ends the run.
    require(!state_.ledger.stopping() || (scenario_->audit > 0 && !was_stopping_),
            "tasks are given after stop");
  } else if (auto const* const g = std::get_if<role::farm::give>(&m)) {
    p.content = ids_of(g->ranges);
    require(!p.content.empty(), "a victim gives nothing");
    for (task_id id : p.content) {
      require(id < scenario_->tasks, fmt::format("task {} does not exist", id));
      if (!scenario_->stream) continue;
      if (from == 0) {
        require(!state_.forgotten[id], fmt::format("task {} is given, but forgotten", id));
        continue;
      }
      auto const mine = std::find(n.payloads.begin(), n.payloads.end(), id);
      require(mine != n.payloads.end(), fmt::format("rank {} gives task {} without having it", from, id));
      n.payloads.erase(mine);
    }
  }
  p.what = through_codec(m);
  if (to == from) {
    state_.to_self.push_back(std::move(p));
    return;
  }
  if (!at(to).alive) return;
  p.sequence = ++state_.sent[wire(from, to)];
  if (scenario_->lost_in > 0) {
    losses_ = losses_ * 6364136223846793005U + 1442695040888963407U;
    if ((losses_ >> 33) % scenario_->lost_in == 0) return;
  }
  state_.wires[wire(from, to)].push_back(std::move(p));
}

// Messages of the root to itself arrive at once.
void world::drain_self() {
  std::size_t next = 0;
  while (next < state_.to_self.size()) {  // the list grows meanwhile
    auto p = std::move(state_.to_self[next++]);
    receive(0, 0, std::move(p));
  }
  state_.to_self.clear();
}

void world::check_window() const {
  auto const& s = *scenario_;
  if (s.window == 0 || !s.calm() || s.other_call) return;
  auto const& l = state_.ledger;
  // In task order, restored results wait for others; otherwise the sink receives them first.
  auto const restored = s.ordered ? 0 : std::min<std::uint64_t>(state_.sunk, s.restored.size());
  auto const sunk = state_.sunk - restored;
  auto const done = sunk + l.left_out();
  require(l.given() <= done + s.window,
          fmt::format("{} tasks are open, the window is {}", l.given() - done, s.window));
}

bool world::blamed() const {
  auto const& o = at(0).outcome;
  return o.how == role::outcome::status::task_failed && !fails(o.task, o.rank);
}

// If only tasks kill ranks and all their messages arrive, the blamed task is one of these. Otherwise dead or
// suspected ranks ran it, all but the first of them for certain.
void world::check_blame(role::outcome const& how) const {
  auto const& s = *scenario_;
  require(s.most_losses > 0, "a task is blamed though it may kill any number of ranks");
  require(!s.last_words || s.deaths > 0 || s.suspicions > 0 || is_poison(how.task),
          fmt::format("task {} is innocent", how.task));
  auto const ran = state_.ran_at_death[how.task] + static_cast<unsigned>(state_.suspicions);
  auto const counts = s.from_outside && s.suspicions == 0 ? 2U : 1U;  // that many losses from outside as one
  require(ran >= counts * std::max(1U, s.most_losses - 1),
          fmt::format("task {} is blamed, but ran on {} lost ranks", how.task, ran));
}

bool world::ended() const {
  return state_.root_died || std::all_of(state_.nodes.begin(), state_.nodes.end(),
                                         [](auto const& n) { return n.ended || !n.alive; });
}

// Whether only one rank fails and another one could run its tasks.
bool world::survives_a_bad_rank(role::outcome const& how) const {
  auto const& s = *scenario_;
  int const computing = s.ranks - (s.root_serves && s.ranks > 1 ? 1 : 0);
  return s.failing_rank && s.on_error.elsewhere && s.on_error.times > 1 && s.calm() && computing > 1 &&
         !s.policy.copies && how.handed_out_again == 0;
}

void world::check_end() const {
  auto const& s = *scenario_;
  if (s.other_call) {
    for (auto const& n : state_.nodes)
      require(!n.alive || n.outcome.text == "failed" || state_.deaths > 0,
              "a call that differs is not noticed");
    return;
  }
  if (state_.root_died) return;
  auto const& root = at(0).outcome;
  for (int r = 1; r < s.ranks; ++r)
    require(!at(r).alive || at(r).outcome == root,
            fmt::format("rank {} has another outcome than the root", r));
  using status = role::outcome::status;
  switch (root.how) {
    case status::done: {
      std::uint64_t left_out = 0;
      for (task_id id = 0; id < s.tasks; ++id) {
        left_out += state_.left_out[id];
        require(state_.recorded[id] + state_.left_out[id] == 1, "a task is not recorded");
        require(!s.merged || state_.counted[id] + state_.left_out[id] == 1, "a task is not merged");
      }
      check_audits();
      require(root.tasks == s.tasks - left_out && state_.sunk == root.tasks, "the sink lacks results");
      require(left_out == 0 || !survives_a_bad_rank(root),
              "a task is left out though another rank could run it");
      break;
    }
    case status::stopped_early:
      require(state_.asked_to_stop, "an early end that no rank requested");
      break;
    case status::task_failed:
      if (s.audit > 0 && !fails(root.task, root.rank))
        require(may_be_unsettled(), "a difference is not settled");
      else if (blamed())
        check_blame(root);
      else if (survives_a_bad_rank(root))
        require(false, "the run fails though another rank could run the task");
      else
        require(state_.task_failed && fails(root.task, root.rank),
                "the outcome names a task that did not fail");
      break;
    case status::sink_failed:
      require(state_.sink_failed, "the sink has not failed");
      break;
    case status::source_failed:
      require(state_.source_failed, "the source has not failed");
      break;
    case status::refused:
      require(false, "a farm of one program refuses nothing");
      break;
    case status::part_lost:
      require(false, "a farm has no parts to lose");
      break;
  }
  require(root.tasks == state_.sunk, "the outcome and the sink count different results");
  // On the ring, tasks of a slow theft are given again if nothing else makes progress, which does no harm.
  if (s.calm() && s.policy.more != skel::more_from::ring && s.policy.more != skel::more_from::root_then_ranks)
    require(root.handed_out_again == 0, "tasks are handed out again though no rank was lost");
}

}  // namespace harness
