#include "threads.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/format.hpp"
#include "call/quantum.hpp"
#include "call/user_code.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {
// Keeps a quantum's results in the cache until they are sent.
constexpr std::size_t quantum_bytes = std::size_t{128} * 1024;
// Small tasks that begin before one that waits for room. Then it waits only for those that run.
constexpr std::uint64_t most_passed = 64;
}  // namespace

farm_threads::farm_threads(engine& of, farm_work const& work, farm_setup const& setup, bool keeps_local,
                           unsigned threads)
    : engine_(of),
      work_(work),
      result_bytes_(setup.traits.result_bytes),
      time_limit_(setup.options.task.time_limit_seconds),
      keeps_local_(keeps_local),
      needs_(setup.options.task.needs),
      states_(threads) {}

std::vector<task_payload>& farm_threads::give(unsigned thread, task_range const& range) {
  states_[thread].todo = range;
  return states_[thread].payloads;
}

void farm_threads::give_rest(unsigned thread, task_range const& rest, std::uint64_t done) {
  auto& payloads = give(thread, rest);
  if (!payloads.empty())
    payloads.erase(payloads.begin(), payloads.begin() + static_cast<std::ptrdiff_t>(done));
}

void farm_threads::open_gate(farm_setup const& setup, std::optional<double> end) {
  gate_.emplace(setup.rooms.at(static_cast<std::size_t>(setup.rank)), end);
}

task_payload farm_threads::take_payload(unsigned thread, std::uint64_t at) {
  auto& all = states_[thread].payloads;
  return at < all.size() ? std::exchange(all[at], {}) : task_payload();
}

farm_threads::quantum farm_threads::take(unsigned thread, bool in_place) {
  quantum q;
  q.range = *std::exchange(states_[thread].todo, std::nullopt);
  q.batch.in_place = in_place;
  if (!keeps_local_) q.batch.packed = transport::packet(engine_.wires().buffer());
  return q;
}

void farm_threads::run(quantum& q, worker_info const& where, std::atomic<bool> const& draining,
                       function_reference<void()> const& between) {
  if (keeps_local_ && !q.batch.in_place) q.batch.local = work_.make_local();
  if (auto const bytes = result_bytes_ * q.range.count; q.batch.is_packed() && bytes > 4096)
    q.batch.packed.body().reserve(transport::packet::head_room +
                                  std::min<std::size_t>(quantum_bytes + result_bytes_, bytes));
  bool merge_failed = false;
  auto const text = thrown_by([&] {
    try {
      run_slices(q, where, draining, between);
    } catch (merge_failure const& bad) {
      merge_failed = true;
      std::rethrow_exception(bad.why);
    }
  });
  if (text) q.error = thrown{*text, !merge_failed};
}

std::optional<task_gate::place> farm_threads::admit(quantum& q, worker_info& where) {
  auto const id = q.range[q.done];
  auto const& payloads = states_[where.thread].payloads;
  auto const needs = work_.needs_of(id, payloads.empty() ? task_payload() : payloads[q.done], needs_);
  auto answer = gate_->enter(id, needs, engine_.now());
  where.threads = needs.threads;
  if (auto* const in = std::get_if<task_gate::place>(&answer)) return std::move(*in);
  if (auto const* const later = std::get_if<task_gate::wait>(&answer))
    q.held_up = *later;
  else
    q.held_up = std::get<role::farm::refused>(std::move(answer));
  return std::nullopt;
}

void farm_threads::run_slice(quantum& q, std::uint64_t end, worker_info const& where) {
  auto const& payloads = states_[where.thread].payloads;
  if (q.batch.in_place)
    work_.run_in_place(q.range, q.done, end, where);
  else if (q.batch.local)
    work_.run_local(q.range, q.done, end, payloads, where, *q.batch.local);
  else
    work_.run_packed(q.range, q.done, end, payloads, where, q.batch.packed.body());
}

void farm_threads::run_slices(quantum& q, worker_info const& on, std::atomic<bool> const& draining,
                              function_reference<void()> const& between) {
  worker_info where = on;
  auto& t = states_[where.thread];
  auto const& range = q.range;
  auto& batch = q.batch;
  auto& at = q.done;
  double before = engine_.now();
  std::uint64_t const most = quantum_bytes / std::max<std::uint64_t>(1, result_bytes_);
  while (at < range.count) {
    std::uint64_t const end = std::min(range.count, at + (time_limit_ || gate_ ? 1 : t.pace.slice()));
    std::uint64_t const first = at;
    auto const account = [&] {
      double const after = engine_.now();
      bool const half_full = batch.is_packed() && batch.packed.size() > quantum_bytes / 2;
      t.pace.measured(at - first, after - before, half_full ? std::min(most, t.pace.limit()) : most);
      before = after;
      if (time_limit_) t.since = 0;
    };
    auto const place = gate_ ? admit(q, where) : std::nullopt;
    if (gate_ && !place) return;
    if (time_limit_) {
      t.running = range[at];
      t.since = before;
    }
    try {
      run_slice(q, end, where);
    } catch (...) {
      account();
      throw;
    }
    account();
    if (at == range.count) return;
    if (draining.load(std::memory_order_relaxed)) return;
    if (batch.is_packed() && batch.packed.size() >= quantum_bytes) return;
    if (before - engine_.driver().last_progress() > slice_seconds) {
      not_of_the_user([&] { between(); });
      before = engine_.now();
    }
  }
}

std::optional<task_id> farm_threads::overrun(double t) const {
  for (auto const& s : states_)
    if (double const since = s.since; time_limit_ && since > 0 && t - since > *time_limit_) return s.running;
  return std::nullopt;
}

void farm_threads::excuse(double seconds) {
  for (auto& s : states_)
    if (double since = s.since; since > 0)  // unless another task begins meanwhile
      s.since.compare_exchange_strong(since, std::min(engine_.now(), since + seconds));
}

// --- task_gate

task_gate::answer task_gate::enter(task_id id, task_needs const& needs, double now) {
  if (needs.threads < 1 || !(needs.seconds >= 0) || std::isinf(needs.seconds))
    throw usage_error(detail::format(
        "its needs are {} threads and {} s: expected at least 1 thread, and a time that is finite",
        needs.threads, needs.seconds));
  role::task_room const needed{needs.memory, needs.threads};
  if (!mine_.fits(needed)) return role::farm::refused{id, 0, needed.memory, needed.threads, {}};
  if (needs.seconds > 0 && end_ && now + needs.seconds > *end_)
    return role::farm::refused{
        id, 0, needed.memory, needed.threads,
        detail::format("not started: it may take {:.4g} s, and the run ends in {:.4g} s", needs.seconds,
                       *end_ - now)};
  std::lock_guard const lock(mutex_);
  role::task_room const left{mine_.memory - taken_.memory, mine_.threads - taken_.threads};
  bool const turn = !first_waiting_ || *first_waiting_ == id || passed_ < most_passed;
  if (running_ > 0 && !(turn && left.fits(needed))) {
    if (!first_waiting_) first_waiting_ = id;
    return wait{ended_};
  }
  ++passed_;
  if (running_ == 0 || first_waiting_ == id) {
    first_waiting_.reset();
    passed_ = 0;
  }
  ++running_;
  taken_.memory += needed.memory;
  taken_.threads += needed.threads;
  return answer(std::in_place_type<place>, *this, needed);
}

void task_gate::leave(role::task_room const& taken) {
  std::lock_guard const lock(mutex_);
  --running_;
  ++ended_;
  taken_.memory -= taken.memory;
  taken_.threads -= taken.threads;
}

std::uint64_t task_gate::ended() const {
  std::lock_guard const lock(mutex_);
  return ended_;
}
}  // namespace skel::detail
