#include "collective_run.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/format.hpp"
#include "engine/context_access.hpp"
#include "quantum.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {

// A thread without work polls for a while, then sleeps for growing intervals. An idle rank thus
// costs little and answers within a millisecond.
constexpr double shortest_sleep = 50e-6;
constexpr double longest_sleep = 800e-6;

// Removes the run from the engine's table, also if the call ends by an error.
struct closed_at_end {
  engine& of;
  run_key key;
  ~closed_at_end() {
    std::lock_guard const lock(of.mutex());
    of.close(key);
  }
};

}  // namespace

collective_run::collective_run(context& ctx, call_options options, std::string_view skeleton)
    : ctx_(ctx),
      engine_(context_access::engine_of(ctx)),
      team_(context_access::team_of(ctx)),
      slot_(ctx),
      key_{context_access::id(ctx), slot_.number()},
      rank_(ctx.rank()),
      threads_(static_cast<unsigned>(ctx.threads())),
      compute_threads_(threads_),
      start_(engine_.now()),
      clocks_(threads_),
      last_moved_(start_),
      call_(skeleton),
      options_(std::move(options)) {
  auto const mode = engine_.options().progress;
  bool const observed = options_.observed && context_access::is_observed(ctx);
  if (is_root() && observed && (mode != observe::progress_mode::never || engine_.observer))
    display_ = std::make_unique<observe::progress_display>(options_.label, mode);
  if (engine_.options().trace.on && observed) trace_ = std::make_unique<observe::trace_buffer>();
}

report collective_run::execute() {
  if (options_.observed) engine_.say_warnings();
  closed_at_end const guard{engine_, key_};
  open();
  engine_.helper().with_pool(*this, compute_threads_, [this] { work(0); });
  std::unique_lock lock(engine_.mutex());
  engine_.calls().settle_failures();
  bool const broken = error_ != nullptr;
  if (!broken || failed_on_all_) engine_.driver().flush(lock, 5.0);
  auto result = make_report();
  if (trace_) {
    if (!broken) engine_.measure_clocks(lock, key_.number);
    if (is_root()) keep_traces();
  }
  engine_.close(key_);
  lock.unlock();
  if (display_) show_progress(true);
  return result_or_throw(std::move(result));
}

void collective_run::open() {
  std::unique_lock lock(engine_.mutex());
  engine_.farewell().throw_if_peer_failed();
  base_messages_ = engine_.wires().messages_sent();
  base_bytes_ = engine_.wires().bytes_sent();
  if (trace_) engine_.clocks().measure_once();
  begin(lock);
  engine_.open(key_, *this);
  for (int r = 0; r < team_.size(); ++r) {
    if (!is_lost(r)) continue;
    lost_before_.insert(r);
    on_lost(r);
  }
}

report collective_run::result_or_throw(report r) const {
  if (error_) std::rethrow_exception(error_);
  auto const& o = *outcome_;
  switch (o.how) {
    case role::outcome::status::task_failed:
      throw task_error(o.task, o.rank, o.text, o.more);
    case role::outcome::status::sink_failed:
      throw sink_error(o.task, o.text);
    case role::outcome::status::source_failed:
      throw source_error("the source of tasks failed: " + o.text);
    case role::outcome::status::part_lost:
      throw lost_rank_error(o.rank,
                            detail::format("lost rank {}, which held data that no other rank has", o.rank));
    case role::outcome::status::refused:
      throw usage_error(o.text);
    default:
      return r;
  }
}

// --- the compute threads

void collective_run::work(unsigned thread) {
  auto& t = clocks_[thread];
  auto& idle_since = t.idle_since;
  std::unique_lock lock(engine_.mutex());
  try {
    while (!over_) {
      double const begin = now();
      if (begin - engine_.driver().last_progress() > slice_seconds / 4) engine_.driver().progress();
      engine_.farewell().throw_if_peer_failed();
      if (over_) break;
      if (find_work(thread)) {
        t.found = begin;
        if (idle_since >= 0) {
          t.idle += begin - idle_since;
          span(thread, observe::activity::idle, idle_since, begin, 0, 0);
          idle_since = -1;
          if (thread == 0) engine_.helper().rest(false);
        }
        compute(thread, lock);
      } else {
        if (idle_since < 0) idle_since = begin;
        if (!over_) wait_for_work(thread, begin, lock);
      }
      after_quantum(thread, lock);
    }
  } catch (...) {
    if (!lock) lock.lock();
    give_up(std::current_exception());
  }
  if (thread == 0) engine_.helper().rest(false);
  if (idle_since >= 0) t.idle += now() - idle_since;
  idle_since = -1;
}

// `t`: the present time.
void collective_run::wait_for_work(unsigned thread, double t, std::unique_lock<std::mutex>& lock) {
  bool const polls = (team_.size() > 1 && thread == 0) || engine_.owns_time();
  if (!polls) {
    ++waiting_threads_;
    engine_.calls().work_arrived().wait_for(lock, std::chrono::milliseconds(5));
    --waiting_threads_;
    return;
  }
  // Messages come in bursts: a root that only collects must not sleep between them.
  double const idle = t - std::max(clocks_[thread].idle_since, engine_.driver().last_arrival());
  if (idle < poll_seconds_ && compute_threads_ == 1 && engine_.place.has_cores) {
    engine_.driver().poll(t, poll_seconds_);
    return;
  }
  double step = 0;
  if (idle >= spin_seconds_) {  // growing steps: the wait never exceeds the idle time so far by much
    step = std::clamp(idle / 8, shortest_sleep, longest_sleep);
    if (step == longest_sleep) engine_.helper().rest(true);  // this thread polls often enough
  }
  ++waiting_threads_;
  rest(lock, step);
  --waiting_threads_;
  engine_.driver().progress();
}

// --- the end of a call

void collective_run::end_with(role::outcome const& how) {
  outcome_ = how;
  over_ = true;
  engine_.calls().work_arrived().notify_all();
}

void collective_run::fail_with(role::fail const& why) {
  if (why.why == role::fail::reason::lost_root) {
    give_up(
        std::make_exception_ptr(lost_rank_error(root_, detail::format("lost the root (rank {})", root_))));
    return;
  }
  if (!is_root() && !over_ && why.text.starts_with(watchdog_text)) say_state(why.text);
  give_up(std::make_exception_ptr(protocol_error(why.text)));
}

void collective_run::give_up(std::exception_ptr error) {
  if (!error_) error_ = std::move(error);
  over_ = true;
  draining_ = true;
  engine_.calls().work_arrived().notify_all();
}

bool collective_run::stop_wanted() const {
  return options_.stop.stop_requested() || engine_.calls().stop_requested().load(std::memory_order_relaxed) ||
         options_.time_limit_seconds;
}

void collective_run::check_stop() {
  constexpr double patience_with_root = 5;  // it may have ended the call: its word is under way
  if (left_ && !over_ && now() - left_->since > patience_with_root)
    give_up(std::make_exception_ptr(protocol_error(left_->text)));
  if (over_ || stop_sent_) return;
  bool const late = options_.time_limit_seconds && now() - start_ >= *options_.time_limit_seconds;
  if (!late && !options_.stop.stop_requested() && !engine_.calls().stop_requested().load()) return;
  stop_sent_ = true;
  please_stop();
}

// --- external events

void collective_run::on_rank_lost(int rank) {
  int const r = team_.from_wire(rank);
  if (r == team::none) return;
  if (is_root() && traced_losses_.insert(r).second) {
    double const t = span_begin();
    span(threads_, observe::activity::loss, t, t, static_cast<std::uint64_t>(r), 0);
  }
  if (engine_.peers().is_lost_from_outside(rank)) on_outside_loss(r);
  on_lost(r);
}

void collective_run::on_message(int wire_from, std::span<std::byte const> body, transport::packet& whole) {
  int const from = team_.from_wire(wire_from);
  if (from == team::none) return;
  if (doubts_.contains(from)) return;  // the run is about to fail and must not succeed before
  double const begin = span_begin();
  auto const size = body.size();
  try {
    receive(from, body, whole);
    span(threads_, observe::activity::receive, begin, span_begin(), static_cast<std::uint64_t>(from), size);
  } catch (protocol_error const& e) {  // probably from another call, or misread as part of one
    auto const text = detail::format("message from rank {}: {}", from, e.what());
    if (is_root())
      doubt(from, text);
    else
      engine_.calls().tell_doubt(key_, wire_from, text);
  }
}

// Also called if the run has succeeded on this rank: with a single rank, nothing separates a nested
// call from the end.
void collective_run::on_failure(call_failure const& why) {
  if (error_) return;
  failed_on_all_ = true;
  give_up(why.what == call_failure::kind::usage ? std::make_exception_ptr(usage_error(why.text))
                                                : std::make_exception_ptr(protocol_error(why.text)));
}

bool collective_run::of_another_call(int rank, std::uint64_t hash) {
  if (hash == call_.hash()) return false;
  doubt(rank, {});
  return true;
}

void collective_run::doubt(int rank, std::string const& text) {
  if (over_ || rank == rank_ || !doubts_.try_emplace(rank, question{text}).second) return;
  engine_.calls().ask_call(team_.to_wire(rank), key_);
}

void collective_run::on_doubt(int wire_rank, int wire_about, std::string const& text) {
  for (int const r : {team_.from_wire(wire_rank), team_.from_wire(wire_about)})
    if (r != team::none) doubt(r, text);
}

void collective_run::on_description(int wire_rank, std::string const& theirs) {
  int const rank = team_.from_wire(wire_rank);
  auto const asked = doubts_.find(rank);
  if (over_ || asked == doubts_.end()) return;
  if (auto const how = difference(theirs, call_.text()); !how.empty())
    engine_.calls().fail_call(
        {key_, call_failure::kind::protocol,
         detail::format("rank {} made another skeleton call than the root: {}", rank, how)});
  else if (asked->second.answered = true; std::all_of(doubts_.begin(), doubts_.end(), [&](auto const& d) {
             return d.second.answered || is_lost(d.first);
           }))
    engine_.calls().fail_call({key_, call_failure::kind::protocol, asked->second.text});
}

void collective_run::on_left(int wire_rank) {
  int const rank = team_.from_wire(wire_rank);
  if (over_ || rank == team::none) return;
  auto const text = detail::format(
      "rank {} has ended without making this skeleton call: all ranks must make the same calls", rank);
  if (is_root())
    abort(text);
  else if (!left_)
    left_ = {now(), text};
}

// The run makes no progress: this rank prints its state, and the job ends. The root does so first.
// The others wait a little longer, in case the root itself hangs.
void collective_run::watch(double t) {
  double const limit = engine_.options().watchdog_seconds;
  if (limit <= 0 || over_) return;
  double const quiet = t - last_moved_;
  if (quiet < limit + (is_root() ? 0 : watchdog_patience)) return;
  auto const text = detail::format("{}{:.0f} s", watchdog_text, quiet);
  say_state(text);
  if (is_root()) abort(text);
  over_ = true;  // only once
  engine_.end_job();
}

}  // namespace skel::detail
