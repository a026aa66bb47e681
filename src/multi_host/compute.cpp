// The compute threads of a multi_host call: read units, process pieces, give units to the sink.
#include <algorithm>
#include <exception>
#include <utility>

#include "call/quantum.hpp"
#include "call/user_code.hpp"
#include "run.hpp"
#include "skel/bytes.hpp"

namespace skel::detail {

// A unit that was open on lost hosts is read while nothing else runs here.
bool group_run::may_read() const {
  return !reads_.empty() && (!reads_.front().alone || (inside_ == 0 && !worker_.has_work()));
}

// To read comes first: workers depend on it.
bool group_run::find_work(unsigned thread) {
  auto& t = state_[thread];
  if (stop_wanted()) check_stop();
  if (draining_) {
    t.todo = std::monostate{};
    check_quiet();
    return false;
  }
  deliver_deferred();
  auto const process_next = [&] {
    role::group_actions list;
    worker_.idle(tasks_in(quantum_seconds, t.cost, most_tasks_of_quantum), inside_ == 0, list);
    perform(list, nullptr, &t);
    if (draining_) t.todo = std::monostate{};
    return !std::holds_alternative<std::monostate>(t.todo);
  };
  // Until the root knows what pieces cost, groups are not what they should be.
  if (arbiter_ && arbiter_->on_trial() && trial_units_ > 0 && process_next()) return true;
  if (worker_.runs_alone()) return process_next();
  if (may_read()) {
    t.todo = std::move(reads_.front());
    reads_.pop_front();
  } else if (!deliveries_.empty() && !sinking_here_) {
    t.todo = std::move(deliveries_.front());
    deliveries_.pop_front();
    sinking_here_ = true;
  } else {
    return process_next();
  }
  return true;
}

// The lock is held on entry and exit, not meanwhile.
void group_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto& t = state_[thread];
  ++inside_;
  if (std::holds_alternative<read_job>(t.todo))
    read(t, lock);
  else if (std::holds_alternative<sink_job>(t.todo))
    sink_here(t, lock);
  else
    process(thread, lock);
  deliver_deferred();
  maybe_measured();
  check_quiet();
}

void group_run::check_quiet() {
  if (!draining_ || inside_ > 0 || over_) return;
  role::group_actions list;
  worker_.quiet(list);
  perform(list);
}

// --- reading

void group_run::read(thread_state& t, std::unique_lock<std::mutex>& lock) {
  auto const j = std::get<read_job>(std::exchange(t.todo, std::monostate{}));
  auto const unit = j.of->units.at(j.unit);
  if (j.alone) {
    role::group_actions list;
    host_.opens(j.of->term, j.unit, list);
    perform(list);
  }
  lock.unlock();
  double const begin = now();
  std::uint64_t pieces = 0;
  auto const ready = [&](std::uint64_t n) {
    std::lock_guard const again(engine_.mutex());
    role::group_actions list;
    if (!draining_) host_.readied(j.of->term, n, list);
    perform(list);
  };
  auto const bad = thrown_by([&] { pieces = work_.read(j.unit, j.fresh, *j.of->carried, *unit, ready); });
  double const end = now();
  lock.lock();
  --inside_;
  auto& clock = clocks_[static_cast<std::size_t>(&t - state_.data())];
  clock.busy += end - begin;
  span(static_cast<unsigned>(&t - state_.data()), observe::activity::compute, begin, end, j.unit, 1);
  clock_.units_read += 1 + (j.fresh ? work_.history(j.unit) : 0);
  clock_.read_seconds += end - begin;
  last_moved_ = end;
  if (draining_) return;
  if (bad) {
    fail(j.unit, *bad);
    return;
  }
  if (pieces > 0) ++trial_units_;
  trial_pieces_ += pieces;
  role::group_actions list;
  host_.was_read(j.of->term, pieces, list);
  perform(list);
}

// --- processing

// Packets that this rank asks for have so many pieces for each thread, at most.
void group_run::set_pace(std::uint64_t pieces) {
  pace_ = pieces;
  worker_.pace(options_.paper.packet_seconds > 0 ? pieces * threads_ : 0);
}

void group_run::process(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto& t = state_[thread];
  auto const j = std::get<process_job>(std::exchange(t.todo, std::monostate{}));
  auto const together = room_for_results(t, j);
  std::vector<held_piece> results;
  std::uint64_t bytes = 0;
  lock.unlock();
  double const begin = now();
  auto const bad = thrown_by([&] { process_pieces(thread, j, together, results, bytes); });
  double const end = now();
  span(thread, observe::activity::compute, begin, end, j.pieces.unit, results.size());
  lock.lock();
  --inside_;
  auto const n = results.size();
  clocks_[thread].busy += end - begin;
  clocks_[thread].tasks += n;
  clock_.pieces += n;
  clock_.compute_seconds += end - begin;
  last_moved_ = end;
  if (n > 0) {
    t.cost = std::max((end - begin) / static_cast<double>(n), 1e-9);
    // Growing by steps: cheap pieces say little of the next ones.
    if (j.packet->term == paced_for_)
      set_pace(std::min(2 * pace_, tasks_in(options_.paper.packet_seconds, t.cost, most_tasks_of_quantum)));
  }
  if (draining_) return;
  if (bad) {
    fail(j.pieces.unit, *bad);
    return;
  }
  auto const held = packets_.find(j.id);
  if (held == packets_.end()) return;  // void meanwhile
  for (std::uint64_t i = 0; i < n; ++i)
    finished_.emplace(std::array{j.packet->term, j.pieces.unit, j.pieces.first + i}, std::move(results[i]));
  j.packet->unfinished -= n;
  if (j.packet->unfinished == 0) packets_.erase(held);
  role::group_actions list;
  worker_.finished(j.id, j.pieces, bytes, list);
  perform(list);
}

// Results are packed while they are in the cache. Those of a unit that this rank leads leave when all of them
// are there, so nobody reads where a thread appends. But a piece that was taken back from a rank without a
// sign of life is done twice where that rank lives, and then the unit may leave while a thread is at it:
// results lie apart from then on. So do those for other hosts, which may be asked for after each call.
std::shared_ptr<transport::packet> group_run::room_for_results(thread_state& t, process_job const& j) {
  if (j.packet->stays) return nullptr;
  auto& out = t.outgoing;
  bool const together = j.packet->own && host_.taken_back() == 0;
  bool const goes_on = together && out.term == j.packet->term && out.unit == j.pieces.unit;
  if (goes_on && out.packed && !out.packed->empty()) return out.packed;
  auto& wires = engine_.wires();
  auto fresh = wires.share(transport::packet(wires.buffer()));
  if (together) out = {j.packet->term, j.pieces.unit, fresh};
  return fresh;
}

void group_run::process_pieces(unsigned thread, process_job const& j,
                               std::shared_ptr<transport::packet> const& together,
                               std::vector<held_piece>& results, std::uint64_t& bytes) {
  auto& p = *j.packet;
  std::call_once(p.opened, [&] {
    if (!p.object) p.object = work_.unpack_packet(p.packed.bytes());
  });
  worker_info const where{rank_, thread, threads_};
  for (std::uint64_t i = 0; i < j.pieces.count; ++i) {
    held_piece held;
    held.object = work_.process(*p.object, j.pieces.first - p.first + i, where);
    if (j.on_trial) measure_sending(j, *held.object);
    if (!p.stays) {
      held.at = together->size() + bytes::most_varint;
      bytes::put_block_by(together->body(), [&](auto& to) { work_.pack(*held.object, to); });
      held.size = together->size() - held.at;
      held.object.reset();
      held.whole = together;
      bytes += held.size;
    }
    if (p.own) bytes = options_.paper.results_level;  // what does not travel yet is not kept back
    results.push_back(std::move(held));
    if (draining_.load(std::memory_order_relaxed)) break;
    not_of_the_user([&] { engine_.try_progress(slice_seconds); });
  }
}

// --- the sink

bool group_run::give_to_sink(std::uint64_t unit, unit_of_results& results) {
  for (std::uint64_t p = 0; p < results.size(); ++p) {
    auto& held = results[p];
    if (!held.object) held.object = work_.unpack_result(held.packed(), held.whole);
    if (!work_.sink(unit, p, *held.object)) return false;
    held = {};  // of a message nobody refers to any more, the memory serves the next one
    not_of_the_user([&] { engine_.try_progress(slice_seconds); });
  }
  return true;
}

// On the host that led the unit.
void group_run::sink_here(thread_state& t, std::unique_lock<std::mutex>& lock) {
  auto const j = std::get<sink_job>(std::exchange(t.todo, std::monostate{}));
  auto results = std::move(j.of->kept[j.unit]);
  lock.unlock();
  bool go_on = true;
  double const begin = now();
  auto const bad = thrown_by([&] { go_on = give_to_sink(j.unit, results); });
  span(threads_ + 1, observe::activity::sink, begin, now(), j.unit, results.size());
  lock.lock();
  --inside_;
  sinking_here_ = false;
  if (draining_) return;
  if (bad) {
    fail(j.unit, *bad);
    return;
  }
  if (!go_on) please_stop();
  role::group_actions list;
  host_.delivered(j.of->term, j.unit, list);
  perform(list);
}

void group_run::after_quantum(unsigned /*thread*/, std::unique_lock<std::mutex>& lock) {
  if (!is_root()) return;
  lock.unlock();
  drain_sink();
  lock.lock();
}

// The sink lets messages move. What the wires throw then ends the run: the unit that it was at is gone.
void group_run::idle_work() {
  try {
    drain_sink();
  } catch (...) {
    std::lock_guard const lock(engine_.mutex());
    give_up(std::current_exception());
  }
}

// What the sink gets next, with the lock.
bool group_run::next_for_sink(std::uint64_t& unit, unit_of_results& results) {
  if (for_sink_.empty() || over_ || roll_->stopping() || sink_stopped_) return false;
  bool const in_order = options_.results == unit_results::in_order;
  if (in_order && for_sink_.begin()->first != next_unit_) return false;
  auto node = for_sink_.extract(for_sink_.begin());
  unit = node.key();
  results = std::move(node.mapped());
  return true;
}

void group_run::drain_sink() {
  if (!is_root() || sink_busy_.test_and_set(std::memory_order_acquire)) return;
  struct clear_at_end {
    std::atomic_flag& flag;
    ~clear_at_end() { flag.clear(std::memory_order_release); }
  } const not_busy{sink_busy_};
  while (true) {
    std::uint64_t unit = 0;
    unit_of_results results;
    {
      std::lock_guard const lock(engine_.mutex());
      if (!next_for_sink(unit, results)) return;
    }
    bool go_on = true;
    double const begin = now();
    engine_.rest_helper(false);  // the sink may take its time
    auto const bad = thrown_by([&] { go_on = sink_on_hosts_ || give_to_sink(unit, results); });
    double const end = now();
    span(threads_ + 1, observe::activity::sink, begin, end, unit, results.size());
    std::lock_guard const lock(engine_.mutex());
    last_moved_ = end;
    sink_seconds_ += end - begin;
    ++next_unit_;
    sunk_ += bad ? 0 : 1;
    sink_stopped_ = bad || !go_on;
    if (bad)
      call_roll(&role::roll_call::sink_failed, unit, *bad);
    else if (!go_on)
      call_roll(&role::roll_call::stop_early);
    maybe_complete();
  }
}

void group_run::maybe_complete() {
  if (sunk_ < units_ || !arbiter_->complete() || roll_->stopping() || roll_->finished()) return;
  call_roll(&role::roll_call::done, units_);
}

}  // namespace skel::detail
