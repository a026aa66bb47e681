// The compute threads of a multi_host call: read units, process pieces, give units to the sink.
#include <exception>
#include <utility>

#include "call/user_code.hpp"
#include "run.hpp"

namespace skel::detail {

// Reading comes first: workers depend on it.
bool group_run::find_work(unsigned thread) {
  auto& t = state_[thread];
  if (stop_wanted()) check_stop();
  settle();
  if (draining_) {
    t.todo = std::monostate{};
    return false;
  }
  auto const process_next = [&] {
    role::group_actions list;
    member_.idle(pace_.quantum(thread), inside_ == 0, list);
    perform(list, nullptr, &t);
    if (draining_) t.todo = std::monostate{};
    return !std::holds_alternative<std::monostate>(t.todo);
  };
  // Groups have no final size until the root knows what pieces cost.
  if (root_role_ && root_role_->on_trial() && trial_.begun() && process_next()) return true;
  if (member_.runs_alone()) return process_next();
  if (auto unit = share_.next_read(inside_ == 0 && !member_.has_work()))
    t.todo = std::move(*unit);
  else if (auto complete = share_.next_delivery())
    t.todo = std::move(*complete);
  else
    return process_next();
  return true;
}

// The lock is held on entry and exit, not meanwhile.
void group_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto const todo = std::exchange(state_[thread].todo, std::monostate{});
  ++inside_;
  if (auto const* r = std::get_if<led_share::read_job>(&todo))
    read(thread, *r, lock);
  else if (auto const* s = std::get_if<led_share::sink_job>(&todo))
    sink_here(*s, lock);
  else
    process(thread, std::get<process_job>(todo), lock);
  settle();
  maybe_measured();
}

// Ends draining when no thread is inside the user's functions.
void group_run::settle() {
  if (draining_ && inside_ == 0 && !over_) tell(member_, &role::group_member::quiet);
}

void group_run::read(unsigned thread, led_share::read_job const& j, std::unique_lock<std::mutex>& lock) {
  if (j.alone) tell(host_, &role::group_host::opens, j.term(), j.unit);
  lock.unlock();
  double const begin = now();
  std::uint64_t pieces = 0;
  auto const ready = [&](std::uint64_t n) {
    std::lock_guard const again(engine_.mutex());
    if (!draining_) tell(host_, &role::group_host::readied, j.term(), n);
  };
  auto const bad = thrown_by([&] { pieces = share_.read(j, ready); });
  double const end = now();
  lock.lock();
  --inside_;
  clocks_[thread].busy += end - begin;
  span(thread, observe::activity::compute, begin, end, j.unit, 1);
  clock_.units_read += share_.units_of(j);
  clock_.read_seconds += end - begin;
  last_moved_ = end;
  if (draining_) return;
  if (bad) {
    tell(member_, &role::group_member::failed, j.unit, *bad);
    return;
  }
  trial_.unit_read(pieces);
  tell(host_, &role::group_host::was_read, j.term(), pieces);
}

void group_run::process(unsigned thread, process_job const& j, std::unique_lock<std::mutex>& lock) {
  auto const together = pieces_.room_for_results(thread, j, host_.units().taken_back() > 0);
  piece_runner::outcome out;
  lock.unlock();
  double const begin = now();
  auto const bad = thrown_by([&] { pieces_.run(thread, j, together, draining_, out); });
  double const end = now();
  double const busy = end - begin - out.away;
  auto const n = out.results.size();
  span(thread, observe::activity::compute, begin, end, j.pieces.unit, n);
  lock.lock();
  --inside_;
  clocks_[thread].busy += busy;
  clocks_[thread].tasks += n;
  clock_.pieces += n;
  clock_.compute_seconds += busy;
  last_moved_ = end;
  if (pace_.measured(thread, j.packet->term, n, busy)) member_.pace(pace_.per_packet());
  if (draining_) return;
  if (bad)
    tell(member_, &role::group_member::failed, j.pieces.unit, *bad);
  else if (packets_.finished(j, out.results))
    tell(member_, &role::group_member::finished, j.id, j.pieces, out.bytes);
}

void group_run::maybe_measured() {
  if (root_role_ && root_role_->on_trial() && !draining_ && trial_.measured())
    tell(*root_role_, &role::group_root::measured, trial_.find_size());
}

// --- the sink

// Runs on the host that led the unit.
void group_run::sink_here(led_share::sink_job const& j, std::unique_lock<std::mutex>& lock) {
  auto results = j.take();
  lock.unlock();
  bool go_on = true;
  double const begin = now();
  auto const bad = thrown_by([&] { go_on = sink_.give(j.unit, results); });
  span(threads_ + 1, observe::activity::sink, begin, now(), j.unit, results.size());
  lock.lock();
  --inside_;
  share_.delivered();
  if (draining_) return;
  if (bad) {
    tell(member_, &role::group_member::failed, j.unit, *bad);
    return;
  }
  if (!go_on) please_stop();
  tell(host_, &role::group_host::delivered, j.term(), j.unit);
}

void group_run::after_quantum(unsigned /*thread*/, std::unique_lock<std::mutex>& lock) {
  if (!is_root()) return;
  lock.unlock();
  drain_sink();
  lock.lock();
}

// The sink may drive communication. If the transport throws, the run ends, because the sink's current unit is
// lost.
void group_run::idle_work() {
  try {
    drain_sink();
  } catch (...) {
    std::lock_guard const lock(engine_.mutex());
    give_up(std::current_exception());
  }
}

void group_run::drain_sink() {
  if (!is_root()) return;
  auto const mine = sink_.turn();
  if (!mine) return;
  while (true) {
    std::optional<unit_sink::entry> e;
    {
      std::lock_guard const lock(engine_.mutex());
      if (over_ || roll_->stopping()) return;
      e = sink_.next();
    }
    if (!e) return;
    bool go_on = true;
    double const begin = now();
    engine_.helper().rest(false);  // the sink may take its time
    auto const bad = thrown_by([&] { go_on = setup_.sink_on_hosts() || sink_.give(e->unit, e->results); });
    double const end = now();
    span(threads_ + 1, observe::activity::sink, begin, end, e->unit, e->results.size());
    std::lock_guard const lock(engine_.mutex());
    last_moved_ = end;
    sink_.received(end - begin, bad.has_value(), go_on);
    if (bad)
      call_roll(&role::roll_call::sink_failed, e->unit, *bad);
    else if (!go_on)
      call_roll(&role::roll_call::stop_early);
    maybe_complete();
  }
}

}  // namespace skel::detail
