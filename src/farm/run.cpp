#include "run.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <utility>

#include "base/format.hpp"
#include "base/overloaded.hpp"
#include "call/quantum.hpp"
#include "call/user_code.hpp"
#include "engine/context_access.hpp"
#include "engine/exit_status.hpp"
#include "protocol/deal.hpp"

namespace skel::detail {

using role::call_message;
using role::farm_message;

namespace {

// Whether a message shows progress, for the watchdog. Repetitions by impatient roles do not.
bool moves_the_run(farm_message const& m) {
  return holds_any<role::farm::results, role::farm::task_failed, role::failed, role::finish>(m) ||
         !given_tasks(m).empty();
}

}  // namespace

farm_run::farm_run(context& ctx, farm_work& work, farm_policy policy, farm_options const& options,
                   std::vector<role::task_room> rooms)
    : farm_call(ctx, work, std::move(policy), options),
      keeps_all_(is_root() && setup_.remembers && memory_ && engine_.wires().carrier().spares() > 0),
      in_place_(ctx.is_root() && setup_.traits.in_place && setup_.options.audit == 0 && !keeps_all_),
      unsent_(work, setup_.traits.merged, engine_),
      results_(work, engine_, sink_, is_root() && setup_.options.audit > 0),
      threads_at_work_(engine_, work, setup_, (is_root() && !keeps_all_) || setup_.traits.merged, threads_) {
  setup_.rooms = std::move(rooms);
  if (!setup_.rooms.empty()) threads_at_work_.open_gate(setup_, end_.latest());
  if (!computes_) threads_ = 1;
  if (setup_.traits.takes_team) {
    std::vector<context> alone;
    for (unsigned t = 0; t < threads_; ++t)  // two calls at a time need two contexts
      alone.push_back(context_access::make_team(ctx, std::array{rank_}, t + 1));
    work.alone_teams(std::move(alone));
  }
  member_ = role::farm_member(setup_.member_config(engine_, call_.hash(), threads_));
  if (!is_root()) return;
  roll_.emplace(all_ranks(), call_.hash());
  if (setup_.checks_ranks(engine_.options().check.tasks)) rank_check_.emplace(work);
  auto config = setup_.root_config(call_.hash(), in_place_, sink_.restored_tasks());
  if (setup_.recalls && memory_)
    for (auto& r : memory_.ran_on_roots())
      config.losses.former_roots.push_back({-1 - r.rank_in_job, std::move(r.running), r.from_outside});
  root_role_.emplace(std::move(config));
  resize_window();
}

// What this rank has not sent to a root that is lost.
farm_run::~farm_run() {
  std::lock_guard const lock(engine_.mutex());
  if ((is_root() && !keeps_all_) || !engine_.farewell().view_ended() || unsent_.empty()) return;
  auto const bad = thrown_by([&] {
    auto const batch = unsent_.take_packed();
    is_root() ? keep(batch.ranges, batch.packed.bytes()) : remember(batch.ranges, batch.packed.bytes());
  });
}

void farm_run::begin(std::unique_lock<std::mutex>& lock) {
  if (is_root()) {
    lock.unlock();
    // If memory runs out, the sink reports it when it meets the first result without a place.
    if (thrown_by([&] { work_.make_places(); })) in_place_ = false;
    lock.lock();
  }
  sink_.push_restored();
  if (root_role_) tell(*root_role_, &root_role::begin);
  if (setup_.recalls && memory_) {
    recalling_ = true;
    for (auto const* const p : memory_.pieces()) {
      result_batch batch;
      batch.ranges = p->ranges;
      batch.packed.body().insert(batch.packed.body().end(), p->bytes.begin(), p->bytes.end());
      unsent_.add(std::move(batch));
      send(root_, role::farm::results{p->ranges});
    }
    recalling_ = false;
  }
  tell(member_, &member::begin);
}

// In case the root is lost with what it has received.
void farm_run::remember(range_list const& ranges, std::span<std::byte const> packed) {
  if (!setup_.remembers || !memory_ || recalling_) return;
  double busy = 0;
  for (unsigned t = 0; t < threads_; ++t) busy += measures_[t].busy;
  auto const share = static_cast<double>(count_tasks(ranges)) / static_cast<double>(measures_.tasks_run());
  memory_.keep(ranges, packed, busy * share);
}

// On the root. All ranks together have taken as long for its other results.
void farm_run::keep(range_list const& ranges, std::span<std::byte const> packed) {
  auto const& tasks = root_role_->tasks();
  if (!keeps_all_ || recalling_ || tasks.not_recorded(ranges).empty()) return;
  auto const n = static_cast<double>(count_tasks(ranges));
  double const all = measures_.seconds() * all_ranks();
  memory_.keep(ranges, packed, all * n / (n + static_cast<double>(tasks.recorded().count())));
}

// The share of the results that this rank remembers.
double farm_run::kept() {
  auto const all = root_role_->tasks().recorded().count();
  if (!keeps_all_ || all == 0) return 0;
  return measures_.seconds() * static_cast<double>(std::min(all, memory_.tasks())) / static_cast<double>(all);
}

// A task that ends each root would end one rank per attempt. After the first one, the rank that would be the
// next root hears what this one runs.
void farm_run::tell_successor() {
  if (!is_root() || !setup_.recalls) return;
  if (int const next = successor(); next < all_ranks())
    send(next, role::farm::begins{member_.held().running(), {}});
}

int farm_run::successor() const {
  int next = 1;
  while (next < all_ranks() && entry_.has_lost(next)) ++next;
  return next;
}

// Without tasks of its own, the root has nothing that the others lack, apart from what it has computed and
// what its checkpoint saves when this call ends. What the others do not remember must be in that.
bool farm_run::vacate(bool leaves) {
  if (over_ || !context_access::is_observed(entry_.ctx)) return false;
  if (!is_root() || setup_.remembers || !sink_.saves()) {
    tell(member_, &member::retire, leaves);
    return member_.vacant();
  }
  tell(*root_role_, &root_role::pause, leaves);
  return root_role_->book().dealer.ranks().all_vacant();
}

// --- compute threads

bool farm_run::find_work(unsigned thread) {
  auto& at_work = threads_at_work_;
  // A root that serves may be the last one left.
  if (!at_work.has_work(thread) && (computes_ || member_.held().has_work()))
    tell_member(thread, &member::idle, at_work.limit(thread));
  return at_work.has_work(thread);
}

// The lock is held on entry and exit, not in between. On the root, results are computed in place unless tasks
// may run on two ranks, since another rank's result might be stored at the same time.
void farm_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto q = threads_at_work_.take(thread, in_place_ && !root_role_->may_run_twice());
  tell_successor();
  lock.unlock();
  double const begin = now();
  threads_at_work_.run(q, {rank_, thread, threads_, engine_.place.device(thread)}, draining_, [this] {
    if (engine_.driver().try_progress(slice_seconds) || is_root()) after_work();
  });
  measures_.span(thread, observe::activity::compute, begin, now(), work_.task_at(q.range.first), q.done);
  lock.lock();
  if (must_end_) return;  // the others have heard that the task has failed
  measures_[thread].tasks += q.done;
  double const busy = threads_at_work_.take_busy(thread);
  measures_[thread].busy += busy;
  member_.measured(setup_.cost_of({q.range.first, q.done, q.range.stride}, work_), busy);
  if (!over_) {
    bool const room = threads_at_work_.gate() != nullptr && (q.done > 0 || q.error);
    hand_in(thread, std::move(q));
    if (member_.held().running().empty()) tell_successor();
    if (room) make_room();
    return;
  }
  // The call has failed, and no role takes the results: only the same call in the next attempt may.
  if ((is_root() && !keeps_all_) || q.done == 0 || q.error || !setup_.remembers) return;
  q.batch.ranges = {q.range.take_front(q.done)};
  auto const bad = thrown_by([&] { unsent_.add(std::move(q.batch)); });
}

void farm_run::hand_in(unsigned thread, farm_threads::quantum q) {
  auto& at_work = threads_at_work_;
  auto& error = q.error;
  task_range rest = q.range;
  task_range front = rest.take_front(q.done);
  if (error && !error->of_task) {  // what was merged is lost
    front.count = 0;
    rest = q.range;
  }
  if (!front.empty() && !draining_) {
    q.batch.ranges = {front};
    if (auto bad = thrown_by([&] { unsent_.add(std::move(q.batch)); })) {  // the user's merge: no result
      error = {std::move(*bad), false};
      front.count = 0;
      rest = q.range;
    }
  }
  bool const held_up = q.held_up.index() != 0 && !draining_;
  bool const goes_on = error && error->of_task && setup_.options.on_error.goes_on();
  bool part = !error && !rest.empty();
  last_moved_ = now();
  if (root_role_) sink_.help().did_own_tasks(at_work.cost(thread), last_moved_);
  if (!front.empty())
    tell_member(thread, &member::finished, front, error || part ? 0 : at_work.limit(thread));
  if (error) {
    task_id const id = rest.first;
    rest.take_front(1);
    ++q.done;
    part = goes_on && !rest.empty();
    if (goes_on)
      tell_member(thread, &member::threw, id, std::move(error->text));
    else
      tell_member(thread, &member::failed, id, std::move(error->text), rest);
  }
  if (held_up) {
    hold_up(thread, rest.first, q);
    rest.take_front(1);
    ++q.done;
    part = !rest.empty();
  }
  if (part && draining_)
    tell_member(thread, &member::finished, rest, 0);  // stopped in the middle: the rest does not run
  else if (part)
    at_work.give_rest(thread, rest, q.done);
}

// The task does not run now.
void farm_run::hold_up(unsigned thread, task_id id, farm_threads::quantum& q) {
  auto& at_work = threads_at_work_;
  if (auto* const never = std::get_if<role::farm::refused>(&q.held_up)) {
    tell_member(thread, &member::refused, std::move(*never));
    return;
  }
  stream_.put_back(id, at_work.take_payload(thread, q.done));
  tell_member(thread, &member::put_aside, id);
  // A task may have ended between that answer and now, and no other may follow.
  if (at_work.gate()->ended() > std::get<task_gate::wait>(q.held_up).ended) make_room();
}

void farm_run::make_room() {
  member_.room();
  if (threads_ > 1) engine_.calls().work_arrived().notify_all();
}

// Called with the lock held, by whichever thread drives communication. A copy of a task may still run when
// the call is over.
void farm_run::watch_tasks(double t) {
  if (must_end_) end_for(0);
  if (auto const id = threads_at_work_.overrun(t)) end_for(*id);
}

// The task cannot be interrupted, so its process must end: first the others learn why, and a tick later, when
// these messages have left, it ends.
void farm_run::end_for(task_id id) {
  auto const text = detail::format("has run for longer than its time limit of {} s",
                                   *setup_.options.task.time_limit_seconds);
  if (std::exchange(must_end_, true)) {
    if (!is_root() || engine_.retirement().obstacle().empty()) std::raise(SIGKILL);  // as any loss of a rank
    end_process(rank_, 1);
  }
  auto const task = work_.task_at(id);
  std::fprintf(stderr, "skel: rank %d: task %llu %s, so this rank ends\n", rank_,
               static_cast<unsigned long long>(task), text.c_str());
  if (over_) return;
  if (is_root() && engine_.retirement().obstacle().empty()) {  // the others go on without it
    send(successor(), role::farm::begins{{{id, 1, 1}}, {}, true});
    return;
  }
  if (is_root()) {
    abort(detail::format("task {} {} on the root, which no rank can replace", task, text));
    return;
  }
  tell(member_, &member::threw, id, "it " + text);
}

// --- source and sink

void farm_run::before_sink() {
  if (!sink_.help().held_back() || sink_.help().root_is_at_it(now())) return;
  std::lock_guard const lock(engine_.mutex());
  after_sink();
}

// With the lock: whether help of other ranks pays.
void farm_run::after_sink() {
  if (!asks_root(setup_.policy) || !computes_ || over_ || roll_->stopping()) return;
  bool const hold = sink_.help().costs_more_than_it_brings(now());
  if (hold == root_role_->book().dealer.holds_back()) return;
  sink_.help().hold_back(hold);
  tell(*root_role_, &root_role::hold_back, hold);
}

// --- roles and messages

void farm_run::send_to_self(message& m) {
  auto* const results = std::get_if<role::farm::results>(&m);
  if (results == nullptr) return farm_call::send_to_self(m);
  // One message per batch, since batches stay objects and cannot be joined. The first one says what this rank
  // has begun, which may have ended since; the last one says what it has left, and requests more.
  if (keeps_all_) {
    auto all = unsent_.take_packed();
    keep(all.ranges, all.packed.bytes());
    results->ranges = all.ranges;
    return push_to_self(std::move(*results), std::move(all));
  }
  auto batches = unsent_.take_all();
  for (auto& b : batches) {
    role::farm::results part{.ranges = b.ranges};
    if (&b == &batches.front()) part.begun = std::move(results->begun);
    if (&b == &batches.back()) part.wanted = results->wanted, part.here = results->here;
    push_to_self(std::move(part), std::move(b));
  }
}

transport::packet farm_run::pack(int /*to*/, message& m) {
  transport::packet body;
  if (auto* const results = std::get_if<role::farm::results>(&m)) {
    task_id const first = unsent_.first_task();
    auto const bad = thrown_by([&] {
      auto batch = unsent_.take_packed();
      results->ranges = std::move(batch.ranges);
      body = std::move(batch.packed);
      remember(results->ranges, body.bytes());
    });
    if (bad) {  // the user's merge threw: these tasks have no result
      unsent_.clear();
      m = call_message(role::failed{first, *bad});
    }
  } else {
    pack_payloads(m, body.body());
  }
  return body;
}

result_batch farm_run::unpack(int from, message& m, std::span<std::byte const> body,
                              transport::packet& whole) {
  if (constexpr unsigned often = 64; root_role_ && ++received_ % often == 0)
    root_role_->message_cost(engine_.driver().seconds_per_message());
  heard(from, m);
  keep_payloads(m, body, whole);
  result_batch batch;
  std::visit(overloaded{
                 [&](role::farm::results const& r) {
                   batch.ranges = r.ranges;
                   whole.drop_front(whole.size() - body.size());
                   batch.packed = std::move(whole);
                   if (is_root()) keep(batch.ranges, batch.packed.bytes());
                   if (rank_check_ && thrown_by([&] { rank_check_->keep(from, batch); })) rank_check_.reset();
                 },
                 [&](role::farm::stock const& s) {
                   if (is_root() && std::exchange(finished_[from], s.finished) != s.finished)
                     last_moved_ = now();
                 },
                 [&](role::farm::give& g) {
                   if (root_role_) g.ranges = root_role_->tasks().not_recorded(g.ranges);
                 },
                 [](auto const& /*m*/) {},
             },
             m);
  return batch;
}

// The only place that decides which role answers a message.
void farm_run::route(int from, message const& m, result_batch& batch, actions& out) {
  if (moves_the_run(m)) last_moved_ = now();
  if (auto const* const b = std::get_if<role::farm::begins>(&m); b != nullptr && !is_root())
    return memory_.root_runs(b->running, engine_.wires().carrier().in_job(entry_.ranks.to_wire(root_)),
                             b->overrun);
  if (!is_root() || !for_root_role(m)) {
    member_.on(from, m, out);
    if (threads_ > 1 && member_.held().has_work()) engine_.calls().work_arrived().notify_all();
    return;
  }
  results_.expect(from);
  if (results_.audits() && std::holds_alternative<role::farm::results>(m)) {
    auto const bad = thrown_by([&] {
      root_role_->compared(results_.versions(batch, [&](task_id id) { return root_role_->compares(id); }));
    });
    if (bad) return call_roll(&role::roll_call::on, from, role::failed{batch.ranges.front().first, *bad});
  }
  root_role_->on(from, m, out);
}

// --- actions

void farm_run::act(role::tell_root& a, result_batch* /*batch*/) {
  // After an overrun this process ends in a moment: the root must miss it.
  if (is_root() || !must_end_ || !std::holds_alternative<role::stopped>(a.what))
    send(root_, std::move(a.what));
}

void farm_run::act(role::farm::execute const& a, result_batch* /*batch*/) {
  auto& payloads = threads_at_work_.give(asking_, a.range);
  stream_.fetch(a.range, payloads);  // now, because they are dropped if another rank is first with them
}

void farm_run::act(role::farm::forget const& a, result_batch* /*batch*/) {
  if (stream_.book() != nullptr) {  // cancelled tasks that this rank holds run all the same, as elsewhere
    for (auto const& r : member_.held().not_held({&a.range, 1})) stream_.forget(r);
    return;
  }
  stream_.forget(a.range);
  if (root_role_->may_run_twice()) member_.drop(a.range);  // another rank was first with them
}

void farm_run::drained(bool /*early*/) {
  unsent_.clear();
  stream_.clear();
}

// --- report

void farm_run::describe(report& r) const {
  farm_call::describe(r);
  r.schedule = to_string(setup_.policy);
  r.results = to_string(setup_.options.results);
  if (results_.audits()) r.audit = results_.report(root_role_->audits());
}

void farm_run::describe(observe::progress_state& s, bool last) const {
  farm_call::describe(s, last);
  s.done = std::max(s.done, results_.recorded());  // most of them wait for the sink
}

farm_run::role_states farm_run::states() const {
  return {detail::format("{} queued, {} running, {} finished and not sent{}", member_.held().queued(),
                         count_tasks(member_.held().running()), member_.held().done(),
                         member_.waiting() ? ", waiting for an answer of the root" : ""),
          root_role_ ? detail::format("{} given", root_role_->book().dealer.given()) : ""};
}

namespace {

// Tasks that take longer are not run once more.
constexpr double checked_task_seconds = 0.1;

}  // namespace

void farm_run::finish(report& r) {
  if (auto const n = root_role_ ? root_role_->book().counts.remembered : 0; n > 0) {
    if (!r.checkpoint) r.checkpoint.emplace();
    r.checkpoint->restored_tasks += n;
  }
  if (!rank_check_ || engine_.options().quiet) return;
  double busy = 0;
  for (auto const& rank : r.per_rank) busy += rank.busy_seconds;
  if (busy > checked_task_seconds * static_cast<double>(r.tasks)) return;
  auto const found = rank_check_->find({rank_, 0, threads_, engine_.place.device(0)}, checked_task_seconds);
  if (!found) return;
  std::fprintf(
      stderr,
      "skel: farm: task %llu has another result on rank %d than on rank %d: a task must not depend on "
      "the rank that runs it (a check of builds with assertions; SKEL_CHECK_TASKS=no turns it off)\n",
      static_cast<unsigned long long>(work_.task_at(found->task)), found->rank, rank_);
}

}  // namespace skel::detail
