#include "run.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.hpp"
#include "call/quantum.hpp"
#include "call/user_code.hpp"
#include "engine/context_access.hpp"
#include "role/deal.hpp"
#include "team_run.hpp"

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

template <class Own>
Own const* as_call(farm_message const& m) {
  auto const* const call = std::get_if<call_message>(&m);
  return call == nullptr ? nullptr : std::get_if<Own>(call);
}

}  // namespace

farm_run::farm_run(context& ctx, farm_work& work, farm_policy policy, farm_options const& options)
    : collective_run(ctx, call_options_of(options, "farm"), "farm"),
      work_(work),
      setup_(ctx, work, std::move(policy), options, root_),
      keeps_local_(ctx.is_root() || setup_.traits.merged),
      in_place_(ctx.is_root() && setup_.traits.in_place),
      sink_(engine_, work, setup_.traits, ctx.is_root() ? setup_.options.checkpoint : std::nullopt),
      stream_(work, setup_.traits.payload, ctx.is_root(), setup_.options.results.window),
      unsent_(work, setup_.traits.merged, engine_),
      state_(threads_) {
  setup_.describe(call_, work, engine_.options().check_inputs);
  computes_ = setup_.computes();
  if (!computes_) threads_ = 1;
  if (setup_.traits.takes_team) {
    std::vector<context> alone;
    for (unsigned t = 0; t < threads_; ++t)  // two calls at a time need two contexts
      alone.push_back(context_access::make_team(ctx, std::array{rank_}, t + 1));
    work.alone_teams(std::move(alone));
  }
  worker_ = role::farm_worker(setup_.worker(engine_, call_.hash(), threads_));
  if (is_root()) ledger_.emplace(setup_.ledger(call_.hash(), in_place_, sink_.restored_tasks()));
}

void farm_run::begin(std::unique_lock<std::mutex>& lock) {
  if (in_place_) {
    lock.unlock();
    // If memory runs out, the sink reports it when it meets the first result without a place.
    if (thrown_by([&] { work_.make_places(); })) in_place_ = false;
    lock.lock();
  }
  sink_.push_restored();
  if (ledger_) tell_ledger(&role::farm_ledger::begin);
  role::farm_actions list;
  worker_.begin(list);
  perform(list);
}

// --- source and sink

void farm_run::supply() {
  auto const turn = stream_.turn();
  if (!turn) return;
  std::unique_lock lock(engine_.mutex());
  if (over_ || draining_) return;
  auto const pooled = ledger_->pooled();
  lock.unlock();
  if (!stream_.due(pooled)) return;
  engine_.rest_helper(false);  // the source may take its time
  auto const got = stream_.pull(pooled, lock);
  if (got.error)
    tell_ledger(&role::farm_ledger::source_failed, *got.error);
  else
    tell_ledger(&role::farm_ledger::supplied, got.available, got.ended);
}

void farm_run::drain_sink() {
  if (!is_root()) return;
  if (sink_.help().held_back() && !sink_.help().root_is_at_it(now())) {
    std::lock_guard const lock(engine_.mutex());
    weigh_help();
  }
  auto const mine = sink_.turn();
  if (!mine) return;
  if (display_) show_progress(false);
  sink_.save_if_due();
  sink_.pass_on(
      [this] {
        return over_                 ? farm_sink::verdict::leave
               : ledger_->stopping() ? farm_sink::verdict::drop
                                     : farm_sink::verdict::pass;
      },
      [this] { engine_.rest_helper(false); },  // it may take its time
      [this, before = sink_.sunk()](auto const& progress, double begin, task_id first) mutable {
        span(threads_ + 1, observe::activity::sink, begin, now(), first, progress.sunk - before);
        before = progress.sunk;
        role::farm_actions list;
        if (progress.error) ledger_->sink_failed(progress.error->first, progress.error->second, list);
        ledger_->sunk(progress.sunk, progress.next, list);
        if (progress.stop) ledger_->stop_early(list);
        perform(list);
        weigh_help();
      });
}

// Called with the lock held.
void farm_run::weigh_help() {
  if (!asks_root(setup_.policy) || !computes_ || over_ || ledger_->stopping()) return;
  bool const hold = sink_.help().costs_more_than_it_brings(now());
  if (hold == ledger_->holds_back()) return;
  sink_.help().hold_back(hold);
  tell_ledger(&role::farm_ledger::hold_back, hold);
}

// --- roles and messages

void farm_run::perform(role::farm_actions& list, thread_state* thread) {
  for (auto& a : list) perform(a, thread);
  list.clear();
  deliver_own();
}

void farm_run::perform(role::farm_action& action, thread_state* thread) {
  if (auto* const s = std::get_if<role::farm::send>(&action)) {
    send_to(s->to, std::move(s->what));
  } else if (auto* const e = std::get_if<role::farm::execute>(&action)) {
    thread->todo = e->range;
    stream_.fetch(e->range,
                  thread->payloads);  // now, because they are dropped if another rank is first with them
  } else if (auto* const r = std::get_if<role::farm::record>(&action)) {
    append(accepted_, r->range);
  } else if (auto* const f = std::get_if<role::farm::forget>(&action)) {
    stream_.forget(f->range);
    if (ledger_->may_run_twice()) worker_.drop(f->range);  // another rank was first with them
  } else if (auto* const l = std::get_if<role::farm::leave_out>(&action)) {
    leave_out(std::move(*l));
  } else if (auto* const t = std::get_if<role::tell_root>(&action)) {
    send_to(root_, std::move(t->what));
  } else if (std::holds_alternative<role::drain>(action)) {
    draining_ = true;
    unsent_.clear();
    stream_.clear();
  } else if (auto const* const end = std::get_if<role::end>(&action)) {
    end_with(end->how);
  } else if (auto const* const failure = std::get_if<role::fail>(&action)) {
    fail_with(*failure);
  }
}

void farm_run::leave_out(role::farm::leave_out task) {
  if (setup_.traits.ordered) sink_.push_left_out(task.task);
  ++failed_tasks_;
  left_out_.push_back({task.task, task.rank, task.times, std::move(task.text)});
}

void farm_run::send_to_self(farm_message m) {
  auto const* const results = std::get_if<role::farm::results>(&m);
  if (results == nullptr) {
    to_self_.push({std::move(m), {}});
    return;
  }
  // One message per batch, since batches stay objects and cannot be joined. The last one requests more.
  auto batches = unsent_.take_all();
  for (auto& b : batches)
    to_self_.push({role::farm::results{b.ranges, &b == &batches.back() ? results->wanted : 0}, std::move(b)});
}

void farm_run::send_to(int to, farm_message m) {
  if (to == rank_) {
    send_to_self(std::move(m));
    return;
  }
  double const begin = span_begin();
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
  } else if (stream_.carries_tasks() && !given_tasks(m).empty()) {
    stream_.pack(given_tasks(m), body.body());
  } else if (as_call<role::stopped>(m) != nullptr) {
    pack_stats(own_stats(), body.body());
  }
  post(to, m, std::move(body), begin);
}

void farm_run::deliver_own() {
  to_self_.deliver([&](own_message& own) { deliver(rank_, own.what, std::move(own.batch)); });
}

// The only place that decides which role answers a message.
void farm_run::deliver(int from, farm_message const& m, result_batch batch) {
  if (moves_the_run(m)) last_moved_ = now();
  role::farm_actions list;
  if (is_root() && for_ledger(m)) {
    accepted_.clear();
    ledger_->at(now());
    ledger_->on(from, m, list);
    for (auto& a : list) perform(a, nullptr);
    if (!accepted_.empty()) sink_.push(std::move(batch), accepted_);
    accepted_.clear();
    return;
  }
  if (auto const* const a = as_call<role::abort>(m);
      a != nullptr && from != rank_ && !over_ && a->text.starts_with(watchdog_text))
    say_state(a->text);
  worker_.on(from, m, list);
  for (auto& a : list) perform(a, nullptr);
  if (threads_ > 1 && worker_.has_work()) engine_.work_arrived().notify_all();
}

void farm_run::receive(int from, std::span<std::byte const> body, transport::packet& whole) {
  if (heard_.insert(from).second) last_moved_ = now();
  if (constexpr unsigned often = 64; ledger_ && ++received_ % often == 0)
    ledger_->message_cost(engine_.seconds_per_message());
  auto const size = body.size();
  auto m = role::decode<farm_message>(body);
  if (auto const* const h = as_call<role::hello>(m);
      h != nullptr && is_root() && of_another_call(from, h->call_hash))
    return;
  result_batch batch;
  bool const stopped = is_root() && as_call<role::stopped>(m) != nullptr;
  if (auto const* const results = std::get_if<role::farm::results>(&m)) {
    batch.ranges = results->ranges;
    whole.drop_front(size - body.size());
    batch.packed = std::move(whole);
  } else if (stream_.carries_tasks() && !is_root() && !given_tasks(m).empty()) {  // the root has all payloads
    stream_.store(given_tasks(m), body, whole);
  } else if (stopped) {
    add_stats(unpack_stats(from, body));
  } else if (auto const* const stock = std::get_if<role::farm::stock>(&m);
             stock != nullptr && is_root() &&
             std::exchange(finished_[from], stock->finished) != stock->finished) {
    last_moved_ = now();
  }
  if (auto* const give = std::get_if<role::farm::give>(&m); give != nullptr && ledger_)
    give->ranges = ledger_->not_recorded(give->ranges);
  deliver(from, m, std::move(batch));
  deliver_own();
  if (!stopped) return;
  auto const left = ledger_->not_stopped().size();
  if (std::exchange(not_stopped_, left) != left) last_moved_ = now();
}

void farm_run::on_lost(int rank) {
  if (ledger_) {
    lost_ranks_ = static_cast<int>(ledger_->lost_ranks().size());
    tell_ledger(&role::farm_ledger::lost, rank);
  }
  role::farm_actions list;
  worker_.lost(rank, list);
  perform(list);
}

void farm_run::abort(std::string const& text) { tell_ledger(&role::farm_ledger::abort, text); }

void farm_run::please_stop() {
  if (ledger_) {
    tell_ledger(&role::farm_ledger::stop_early);
    return;
  }
  role::farm_actions list;
  worker_.please_stop(list);
  perform(list);
}

void farm_run::on_tick(double t) {
  if (ledger_) tell_ledger(&role::farm_ledger::tick);
  role::farm_actions list;
  worker_.tick(list);
  perform(list);
  check_stop();
  watch_tasks(t);
  watch(t);
}

// --- progress and report

void farm_run::describe(report& r) const {
  r.skeleton = "farm";
  r.schedule = to_string(setup_.policy);
  r.results = to_string(setup_.options.results);
  if (ledger_) r.lost_ranks = ledger_->lost_ranks();
  r.failed_tasks = left_out_;
  std::ranges::sort(r.failed_tasks, {}, &task_failure::task);
}

void farm_run::describe(observe::progress_state& s, bool /*last*/) const {
  s.done = sink_.sunk() + failed_tasks_;
  s.total = setup_.traits.tasks;
  s.failed = failed_tasks_;
  s.lost_ranks = lost_ranks_;
}

std::string farm_run::state() const {
  std::string text = detail::format(
      "rank {}: farm {} (context {}, {}): {} queued, {} running, {} finished and not sent{}", rank_,
      key_.number, key_.context, to_string(setup_.policy), worker_.queued(), worker_.running(),
      worker_.unsent(), worker_.waiting() ? ", waiting for an answer of the root" : "");
  if (!ledger_) {
    if (!heard_.contains(root_)) text += "; nothing heard from the root in this call";
    return text;
  }
  text += detail::format("; root: {} given, {} recorded, {} in the sink, {} in the pool", ledger_->given(),
                         ledger_->recorded(), sink_.sunk(), ledger_->pooled());
  if (ledger_->stopping())
    text += detail::format(", stopping, waiting for ranks [{}]", detail::join(ledger_->not_stopped(), " "));
  std::vector<int> absent;
  for (int r = 0; r < setup_.size; ++r)
    if (r != rank_ && !heard_.contains(r)) absent.push_back(r);
  if (!absent.empty()) text += detail::format("; not in this call: ranks [{}]", detail::join(absent, " "));
  return text;
}

namespace {

template <class Run>
report run_to_the_end(Run& run) {
  report r;
  try {
    r = run.execute();
  } catch (...) {
    run.sink().save_last();
    throw;
  }
  run.sink().save_last();
  r.checkpoint = run.sink().checkpoint_costs();
  return r;
}

}  // namespace

report run_farm(context& ctx, farm_work& work, farm_policy const& policy, farm_options const& options) {
  if (work.traits().takes_team && ctx.size() > 1 && !options.team_size.is_one()) {
    team_farm_run run(ctx, work, policy, options);
    return run_to_the_end(run);
  }
  farm_run run(ctx, work, policy, options);
  return run_to_the_end(run);
}

}  // namespace skel::detail
