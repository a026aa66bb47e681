#include "run.hpp"

#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "call/quantum.hpp"
#include "call/user_code.hpp"
#include "role/deal.hpp"

namespace skel::detail {

using role::call_message;
using role::farm_message;

namespace {

// Whether a message shows that the run goes on, for the watchdog. What impatient roles say again does not.
bool moves_the_run(farm_message const& m) {
  auto const* const call = std::get_if<call_message>(&m);
  if (call == nullptr) return std::holds_alternative<role::farm::results>(m) || !given_tasks(m).empty();
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
      state_(threads_),
      heard_(static_cast<std::size_t>(ctx.size())),
      finished_(static_cast<std::size_t>(ctx.size())) {
  setup_.describe(call_, work);
  computes_ = setup_.computes();
  if (!computes_) threads_ = 1;
  worker_ = role::farm_worker(setup_.worker(engine_, call_.hash(), threads_));
  if (is_root()) ledger_.emplace(setup_.ledger(call_.hash(), sink_.restored_tasks()));
}

void farm_run::begin(std::unique_lock<std::mutex>& lock) {
  if (in_place_) {
    lock.unlock();
    // Where there is no memory for the results the sink says so, as it meets the first that has no place.
    if (thrown_by([&] { work_.make_places(); })) in_place_ = false;
    lock.lock();
  }
  sink_.push_restored();
  if (ledger_) tell_ledger(&role::farm_ledger::begin);
  role::farm_actions list;
  worker_.begin(list);
  perform(list);
}

// --- compute threads

bool farm_run::find_work(unsigned thread) {
  auto& t = state_[thread];
  if (!t.todo && (computes_ || worker_.has_work())) {  // a root that serves may be the last one left
    worker_.idle(t.pace.limit(), t.wanted);
    perform(t.wanted, &t);
  }
  return t.todo.has_value();
}

void farm_run::after_quantum(unsigned thread, std::unique_lock<std::mutex>& lock) {
  if (!is_root() && thread != 0) return;
  lock.unlock();
  after_work();
  lock.lock();
}

// What whoever is free does between two quanta, without the lock.
void farm_run::after_work() {
  drain_sink();
  supply();
  if (stop_wanted()) {
    std::lock_guard const lock(engine_.mutex());
    check_stop();
  }
}

// Where the results of the next tasks will be. On the root in place, while no task has been given to two
// ranks: otherwise another's result might be stored meanwhile.
result_batch farm_run::empty_batch() {
  result_batch batch;
  batch.in_place = in_place_ && !setup_.policy.copies && ledger_->handed_out_again() == 0;
  if (!keeps_local_) batch.packed = transport::packet(engine_.wires().buffer());
  return batch;
}

// Runs what the role gave this thread, and hands it in. The lock is held on entry and exit, not meanwhile.
void farm_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto& t = state_[thread];
  task_range const range = *t.todo;
  t.todo.reset();
  auto batch = empty_batch();
  lock.unlock();

  if (keeps_local_ && !batch.in_place) batch.local = work_.make_local();
  auto const bytes = setup_.traits.result_bytes;
  if (batch.is_packed() && bytes * range.count > 4096)
    batch.packed.body().reserve(transport::packet::head_room +
                                std::min<std::size_t>(quantum_bytes + bytes, bytes * range.count));
  std::uint64_t at = 0;
  double const begin = now();
  auto error = thrown_by([&] { run_slices(thread, range, at, batch); });
  span(thread, observe::activity::compute, begin, now(), range.first, at);

  lock.lock();
  clocks_[thread].tasks += at;
  clocks_[thread].busy += t.pace.take_busy();
  if (!over_)  // otherwise the call has failed meanwhile: there is no one to hand the results to
    hand_in(t, range, at, std::move(batch), std::move(error));
}

// Of `range`, `done` tasks have results, and the next one threw if there is an error.
void farm_run::hand_in(thread_state& t, task_range const& range, std::uint64_t done, result_batch batch,
                       std::optional<std::string> error) {
  task_range rest = range;
  task_range front = rest.take_front(done);
  if (!front.empty() && !draining_) {
    batch.ranges = {front};
    if (auto bad = thrown_by([&] { unsent_.add(std::move(batch)); })) {  // the user's merge: no result
      error = std::move(bad);
      front.count = 0;
      rest = range;
    }
  }
  bool const part = !error && !rest.empty();
  last_moved_ = now();
  if (ledger_) sink_.help().did_own_tasks(t.pace.cost(), last_moved_);
  role::farm_actions list;
  if (!front.empty()) {
    worker_.finished(front, error || part ? 0 : t.pace.limit(), list);
    perform(list, &t);
  }
  if (error) {
    task_id const id = rest.first;
    rest.take_front(1);
    worker_.failed(id, *error, rest, list);
  } else if (part && draining_) {
    worker_.finished(rest, 0, list);  // stopped in the middle: the rest is not waited for
  } else if (part) {
    t.todo = rest;
    if (stream_.carries_tasks())
      t.payloads.erase(t.payloads.begin(), t.payloads.begin() + static_cast<std::ptrdiff_t>(done));
  }
  perform(list, &t);
}

void farm_run::run_slices(unsigned thread, task_range const& range, std::uint64_t& at, result_batch& batch) {
  auto& t = state_[thread];
  worker_info const where{rank_, thread, threads_, engine_.device(thread)};
  double before = now();
  while (at < range.count) {
    std::uint64_t const end = std::min(range.count, at + t.pace.slice());
    std::uint64_t const first = at;
    auto const account = [&] {
      double const after = now();
      t.pace.measured(at - first, after - before, batch.is_packed() ? batch.packed.size() : 0,
                      setup_.traits.result_bytes);
      before = after;
    };
    try {
      if (batch.in_place)
        work_.run_in_place(range, at, end, where);
      else if (batch.local)
        work_.run_local(range, at, end, t.payloads, where, *batch.local);
      else
        work_.run_packed(range, at, end, t.payloads, where, batch.packed.body());
    } catch (...) {
      account();
      throw;
    }
    account();
    if (at == range.count) return;
    if (draining_.load(std::memory_order_relaxed)) return;
    if (batch.is_packed() && batch.packed.size() >= quantum_bytes) return;
    if (before - engine_.last_progress() > slice_seconds) {
      not_of_the_user([&] {
        if (engine_.try_progress(slice_seconds) || is_root()) after_work();
      });
      before = now();
    }
  }
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
  while (true) {
    std::unique_lock lock(engine_.mutex());
    if (!sink_.waiting() || over_) return;
    if (ledger_->stopping()) {
      sink_.drop_rest(std::move(lock));
      return;
    }
    auto entries = sink_.take();
    lock.unlock();
    double const begin = now();
    auto const before = sink_.sunk();
    auto const first = entries.front().ranges.empty() ? 0 : entries.front().ranges.front().first;
    engine_.rest_helper(false);  // the sink may take its time
    auto const progress = sink_.drain(entries);
    span(threads_ + 1, observe::activity::sink, begin, now(), first, progress.sunk - before);
    lock.lock();
    sink_.recycle(entries);
    role::farm_actions list;
    if (progress.error) ledger_->sink_failed(progress.error->first, progress.error->second, list);
    ledger_->sunk(progress.sunk, progress.next, list);
    if (progress.stop) ledger_->stop_early(list);
    perform(list);
    weigh_help();
  }
}

// With the lock.
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
                  thread->payloads);  // now: another rank may be first with them, and they are forgotten
  } else if (auto* const r = std::get_if<role::farm::record>(&action)) {
    append(accepted_, r->range);
  } else if (auto* const f = std::get_if<role::farm::forget>(&action)) {
    stream_.forget(f->range);
    if (ledger_->handed_out_again() > 0 || setup_.policy.copies)
      worker_.drop(f->range);  // another rank was first with them
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

void farm_run::send_to_self(farm_message m) {
  auto const* const results = std::get_if<role::farm::results>(&m);
  if (results == nullptr) {
    to_self_.push({std::move(m), {}});
    return;
  }
  // One message per batch: they stay objects, which cannot be joined. The last one asks for more.
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
    if (bad) {  // the user's merge: these tasks have no result
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

// The one place that decides which role answers a message.
void farm_run::deliver(int from, farm_message const& m, result_batch batch) {
  if (moves_the_run(m)) last_moved_ = now();
  role::farm_actions list;
  if (is_root() && for_ledger(m)) {
    accepted_.clear();
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
  auto const sender = static_cast<std::size_t>(from);
  if (!heard_[sender]) {
    heard_[sender] = true;
    last_moved_ = now();
  }
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
  } else if (stream_.carries_tasks() && !is_root() && !given_tasks(m).empty()) {  // the root has them all
    stream_.store(given_tasks(m), body, whole);
  } else if (stopped) {
    add_stats(unpack_stats(from, body));
  } else if (auto const* const stock = std::get_if<role::farm::stock>(&m);
             stock != nullptr && is_root() &&
             std::exchange(finished_[sender], stock->finished) != stock->finished) {
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
  watch(t);
}

// --- what is shown

void farm_run::describe(report& r) const {
  r.skeleton = "farm";
  r.schedule = to_string(setup_.policy);
  r.results = to_string(setup_.options.results);
  if (ledger_) r.lost_ranks = ledger_->lost_ranks();
}

void farm_run::describe(observe::progress_state& s, bool /*last*/) const {
  s.done = sink_.sunk();
  s.total = setup_.traits.tasks;
  s.lost_ranks = lost_ranks_;
}

std::string farm_run::state() const {
  std::string text = detail::format(
      "rank {}: farm {} (context {}, {}): {} queued, {} running, {} finished and not sent{}", rank_,
      key_.number, key_.context, to_string(setup_.policy), worker_.queued(), worker_.running(),
      worker_.unsent(), worker_.waiting() ? ", waiting for an answer of the root" : "");
  if (!ledger_) {
    if (!heard_[static_cast<std::size_t>(root_)]) text += "; nothing heard from the root in this call";
    return text;
  }
  text += detail::format("; root: {} given, {} recorded, {} in the sink, {} in the pool", ledger_->given(),
                         ledger_->recorded(), sink_.sunk(), ledger_->pooled());
  if (ledger_->stopping())
    text += detail::format(", stopping, waiting for ranks [{}]", detail::join(ledger_->not_stopped(), " "));
  std::vector<int> absent;
  for (std::size_t r = 0; r < heard_.size(); ++r)
    if (!heard_[r] && static_cast<int>(r) != rank_) absent.push_back(static_cast<int>(r));
  if (!absent.empty()) text += detail::format("; not in this call: ranks [{}]", detail::join(absent, " "));
  return text;
}

report run_farm(context& ctx, farm_work& work, farm_policy const& policy, farm_options const& options) {
  farm_run run(ctx, work, policy, options);
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

}  // namespace skel::detail
