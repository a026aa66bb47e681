#include "run.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/format.hpp"
#include "call/quantum.hpp"
#include "call/user_code.hpp"
#include "engine/context_access.hpp"
#include "protocol/deal.hpp"

namespace skel::detail {

using role::call_message;
using role::farm_message;

namespace {

// Whether a message shows progress, for the watchdog. Repetitions by impatient roles do not.
bool moves_the_run(farm_message const& m) {
  auto const* const call = std::get_if<call_message>(&m);
  if (call == nullptr)
    return std::holds_alternative<role::farm::results>(m) ||
           std::holds_alternative<role::farm::task_failed>(m) || !given_tasks(m).empty();
  return std::holds_alternative<role::failed>(*call) || std::holds_alternative<role::finish>(*call);
}

}  // namespace

farm_run::farm_run(context& ctx, farm_work& work, farm_policy policy, farm_options const& options)
    : farm_call(ctx, work, std::move(policy), options),
      keeps_local_(ctx.is_root() || setup_.traits.merged),
      in_place_(ctx.is_root() && setup_.traits.in_place && setup_.options.audit == 0),
      unsent_(work, setup_.traits.merged, engine_),
      state_(threads_) {
  if (!computes_) threads_ = 1;
  if (setup_.traits.takes_team) {
    std::vector<context> alone;
    for (unsigned t = 0; t < threads_; ++t)  // two calls at a time need two contexts
      alone.push_back(context_access::make_team(ctx, std::array{rank_}, t + 1));
    work.alone_teams(std::move(alone));
  }
  member_ = role::farm_member(setup_.member_config(engine_, call_.hash(), threads_));
  if (is_root() && setup_.options.audit > 0) audits_.emplace(work, engine_);
  if (!is_root()) return;
  roll_.emplace(all_ranks(), call_.hash());
  if (setup_.checks_ranks(engine_.options().check.tasks)) rank_check_.emplace(work);
  root_role_.emplace(setup_.root_config(call_.hash(), in_place_, sink_.restored_tasks()));
  resize_window();
}

void farm_run::begin(std::unique_lock<std::mutex>& lock) {
  if (in_place_) {
    lock.unlock();
    // If memory runs out, the sink reports it when it meets the first result without a place.
    if (thrown_by([&] { work_.make_places(); })) in_place_ = false;
    lock.lock();
  }
  sink_.push_restored();
  if (root_role_) tell(*root_role_, &root_role::begin);
  tell(member_, &member::begin);
}

// --- source and sink

void farm_run::before_sink() {
  if (!sink_.help().held_back() || sink_.help().root_is_at_it(now())) return;
  std::lock_guard const lock(engine_.mutex());
  weigh_help();
}

// Called with the lock held.
void farm_run::weigh_help() {
  if (!asks_root(setup_.policy) || !computes_ || over_ || roll_->stopping()) return;
  bool const hold = sink_.help().costs_more_than_it_brings(now());
  if (hold == root_role_->book().dealer.holds_back()) return;
  sink_.help().hold_back(hold);
  tell(*root_role_, &root_role::hold_back, hold);
}

// --- roles and messages

bool farm_run::sends(int to, message const& m) const {
  // After an overrun this process ends in a moment: the root must miss it.
  return to == rank_ || !must_end_ || as_call<role::stopped>(m) == nullptr;
}

void farm_run::send_to_self(message& m) {
  auto const* const results = std::get_if<role::farm::results>(&m);
  if (results == nullptr) return farm_call::send_to_self(m);
  // One message per batch, since batches stay objects and cannot be joined. The last one requests more.
  auto batches = unsent_.take_all();
  for (auto& b : batches) {
    message part = role::farm::results{b.ranges, &b == &batches.back() ? results->wanted : 0};
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
  keep_payloads(m, body, whole);
  result_batch batch;
  if (auto const* const results = std::get_if<role::farm::results>(&m)) {
    batch.ranges = results->ranges;
    whole.drop_front(whole.size() - body.size());
    batch.packed = std::move(whole);
    if (rank_check_ && thrown_by([&] { rank_check_->keep(from, batch); })) rank_check_.reset();
  } else if (auto const* const stock = std::get_if<role::farm::stock>(&m);
             stock != nullptr && is_root() &&
             std::exchange(finished_[from], stock->finished) != stock->finished) {
    last_moved_ = now();
  }
  if (auto* const give = std::get_if<role::farm::give>(&m); give != nullptr && root_role_)
    give->ranges = root_role_->book().tasks.not_recorded(give->ranges);
  ran_ = roll_ && roll_->runs(from);
  return batch;
}

void farm_run::received(int from) {
  if (ran_ && !roll_->runs(from)) last_moved_ = now();
}

// The only place that decides which role answers a message.
void farm_run::route(int from, message const& m, result_batch& batch, actions& out) {
  if (moves_the_run(m)) last_moved_ = now();
  if (!is_root() || !for_root_role(m)) {
    member_.on(from, m, out);
    return;
  }
  accepted_.clear();
  sender_ = from;
  if (audits_ && std::holds_alternative<role::farm::results>(m)) {
    auto const bad = thrown_by([&] {
      root_role_->compared(audits_->versions(batch, [&](task_id id) { return root_role_->compares(id); }));
    });
    if (bad) return call_roll(&role::roll_call::on, from, role::failed{batch.ranges.front().first, *bad});
  }
  root_role_->on(from, m, out);
}

void farm_run::answered(int from, message const& m, result_batch& batch) {
  if (!is_root() || !for_root_role(m)) {
    if (threads_ > 1 && member_.held().has_work()) engine_.calls().work_arrived().notify_all();
    return;
  }
  if (!accepted_.empty() && audits_)
    audits_->hold(from, std::move(batch), accepted_);
  else if (!accepted_.empty())
    sink_.push(std::move(batch), accepted_);
  accepted_.clear();
  sink_released();
}

// --- actions

void farm_run::act(role::farm::execute const& a, result_batch* /*batch*/) {
  asking_->todo = a.range;
  stream_.fetch(a.range,
                asking_->payloads);  // now, because they are dropped if another rank is first with them
}

void farm_run::act(role::farm::accept const& a, result_batch* /*batch*/) {
  sink_.push(audits_->accept(a.task, a.version), {{a.task, 1, 1}});
}

void farm_run::act(role::farm::release const& a, result_batch* /*batch*/) { audits_->release(a.rank); }

void farm_run::act(role::farm::discard const& a, result_batch* /*batch*/) {
  audits_->discard(a.rank);
  if (a.rank == sender_) accepted_.clear();
}

void farm_run::act(role::farm::forget const& a, result_batch* /*batch*/) {
  stream_.forget(a.range);
  if (root_role_->may_run_twice()) member_.drop(a.range);  // another rank was first with them
}

void farm_run::drained(bool /*early*/) {
  unsent_.clear();
  stream_.clear();
}

// With audits: results that need not wait any more go to the sink.
void farm_run::sink_released() {
  if (!audits_) return;
  for (auto& held : audits_->take_released()) sink_.push(std::move(held.batch), held.accepted);
  recorded_ = root_role_->recorded();
}

// --- report

void farm_run::describe(report& r) const {
  farm_call::describe(r);
  r.schedule = to_string(setup_.policy);
  r.results = to_string(setup_.options.results);
  if (audits_) r.audit = audited();
}

audit_report farm_run::audited() const {
  auto const& from = root_role_->audits();
  audit_report a;
  a.checked = from.checked();
  a.unchecked = from.unchecked();
  for (auto const& f : from.faults()) {
    if (engine_.options().check.tasks.value_or(false) && !engine_.options().quiet)
      std::fprintf(
          stderr,
          "skel: farm: task %llu has another result on rank %d than on two other ranks: a task must not "
          "depend on the rank that runs it\n",
          static_cast<unsigned long long>(work_.task_at(f.task)), f.rank);
    a.at_fault.push_back({f.rank, work_.task_at(f.task), f.again, {}});
    std::vector<task_id> tasks;
    for (auto const& r : f.released)
      for (std::uint64_t i = 0; i < r.count; ++i) tasks.push_back(work_.task_at(r[i]));
    std::sort(tasks.begin(), tasks.end());
    auto& in_sink = a.at_fault.back().in_sink;
    for (task_id const id : tasks) {
      if (in_sink.empty() || in_sink.back().second + 1 != id) in_sink.emplace_back(id, id);
      in_sink.back().second = id;
    }
  }
  return a;
}

void farm_run::describe(observe::progress_state& s, bool last) const {
  farm_call::describe(s, last);
  s.done = std::max(s.done, recorded_.load());  // most of them wait for the sink
}

std::string farm_run::member_state() const {
  return detail::format("{} queued, {} running, {} finished and not sent{}", member_.held().queued(),
                        count_tasks(member_.held().running()), member_.held().done(),
                        member_.waiting() ? ", waiting for an answer of the root" : "");
}

std::string farm_run::root_state() const {
  return detail::format("{} given", root_role_->book().dealer.given());
}

namespace {

// Tasks that take longer are not run once more.
constexpr double checked_task_seconds = 0.1;

}  // namespace

void farm_run::check_ranks(report const& r) {
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
