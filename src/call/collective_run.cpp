#include "collective_run.hpp"

#include <algorithm>
#include <cstdio>
#include <tuple>
#include <utility>

#include "base/format.hpp"
#include "quantum.hpp"

namespace skel::detail {

namespace {

// Start of the text of an abort by the watchdog. A rank that receives it prints its state.
constexpr std::string_view watchdog_text = "no progress for ";

void say_state(std::string const& why, run const& of) {
  std::fprintf(stderr, "skel: %s: %s\n", why.c_str(), of.state().c_str());
}

// If this process was stopped, the others may have gone on without this root.
void look_for_others(engine& of) {
  if (of.rank() == 0 && of.wires().detector().was_absent(of.now())) of.driver().progress();
}

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

// --- call_doubts

bool call_doubts::of_another_call(int rank, std::uint64_t hash) {
  if (hash == own_.hash()) return false;
  ask(rank, {});
  return true;
}

void call_doubts::cannot_read(int from, std::string const& text) {
  if (entry_.ctx.is_root())
    ask(from, text);
  else
    calls().tell_doubt(entry_.key, entry_.ranks.to_wire(from), text);
}

void call_doubts::ask(int rank, std::string const& why) {
  if (over_ || rank == entry_.ctx.rank() || !asked_.try_emplace(rank, question{why}).second) return;
  calls().ask_call(entry_.ranks.to_wire(rank), entry_.key);
}

void call_doubts::on_doubt(int wire_rank, int wire_about, std::string const& text) {
  for (int const r : {entry_.ranks.from_wire(wire_rank), entry_.ranks.from_wire(wire_about)})
    if (r != team::none) ask(r, text);
}

void call_doubts::on_description(int wire_rank, std::string const& theirs) {
  int const rank = entry_.ranks.from_wire(wire_rank);
  auto const asked = asked_.find(rank);
  if (over_ || asked == asked_.end()) return;
  if (auto const how = difference(theirs, own_.text()); !how.empty())
    calls().fail_call({entry_.key, call_failure::kind::protocol,
                       detail::format("rank {} made another skeleton call than the root: {}", rank, how)});
  else if (asked->second.answered = true; std::all_of(asked_.begin(), asked_.end(), [&](auto const& q) {
             return q.second.answered || entry_.has_lost(q.first);
           }))
    calls().fail_call({entry_.key, call_failure::kind::protocol, asked->second.why});
}

// --- collective_run

collective_run::collective_run(context& ctx, call_options const& options, std::string_view skeleton)
    : engine_(context_access::engine_of(ctx)),
      entry_(ctx),
      rank_(ctx.rank()),
      threads_(static_cast<unsigned>(ctx.threads())),
      compute_threads_(threads_),
      last_moved_(engine_.now()),
      call_(skeleton),
      memory_(entry_, call_),
      doubts_(entry_, call_, over_),
      end_(engine_, options.stop, options.time_limit_seconds),
      measures_(entry_, threads_,
                engine_.options().trace.on && options.observed && context_access::is_observed(ctx)),
      progress_(engine_, options.label, is_root() && options.observed && context_access::is_observed(ctx)),
      waiting_(engine_) {
  if (options.observed)
    engine_.say_warnings();
  else
    std::ignore = engine_.driver().lock_for_call();  // refuses a call inside a merge before the call exists
}

report collective_run::execute(bool may_leave) {
  closed_at_end const guard{engine_, entry_.key};
  open(may_leave);
  engine_.helper().with_pool(*this, compute_threads_, [this] { work(0); });
  std::unique_lock lock(engine_.mutex());
  engine_.calls().settle_failures();
  look_for_others(engine_);
  if (!end_.failed() || end_.failed_everywhere()) engine_.driver().flush(lock, 5.0);
  auto r = measures_.rows(threads_, compute_threads_);
  if (auto const& how = end_.outcome()) {
    r.tasks = how->tasks;
    r.tasks_handed_out_again = how->handed_out_again;
    r.stopped_early = how->how == role::outcome::status::stopped_early;
  }
  describe(r);
  if (auto const n = memory_.restored_tasks(); n > 0) r.checkpoint.emplace().restored_tasks = n;
  measures_.complete(r);
  measures_.end_trace(lock, end_.failed(), progress_.label());
  engine_.close(entry_.key);
  if (is_root()) memory_.ended(kept());
  lock.unlock();
  if (progress_) show_progress(true);
  return end_.result_or_throw(std::move(r));
}

void collective_run::throw_if_left() {
  std::unique_lock const lock(engine_.mutex());
  look_for_others(engine_);
  if (engine_.farewell().view_ended()) engine_.farewell().throw_if_peer_failed();
}

void collective_run::open(bool may_leave) {
  auto lock = engine_.driver().lock_for_call();
  bool const nested = engine_.calls().is_nested(entry_.key.context);
  if (may_leave && !nested) engine_.change_ranks(lock);
  engine_.farewell().throw_if_peer_failed();
  measures_.start();
  memory_.begin();
  end_.set_nested(nested);
  begin(lock);
  engine_.open(entry_.key, *this);
  for (int r = 0; r < all_ranks(); ++r) {
    if (!entry_.has_lost(r)) continue;
    measures_.lost_before(r);
    on_lost(r, false);
  }
}

// --- the compute threads

void collective_run::work(unsigned thread) {
  auto& t = measures_[thread];
  auto& idle_since = t.idle_since;
  bool const drives = (all_ranks() > 1 && thread == 0) || engine_.owns_time();
  std::unique_lock lock(engine_.mutex());
  try {
    while (!over_) {
      double const begin = now();
      if (begin - engine_.driver().last_progress() > slice_seconds / 4) engine_.driver().progress();
      engine_.farewell().throw_if_peer_failed();
      if (over_) break;
      if (end_.stop_wanted()) check_stop();
      if (find_work(thread)) {
        t.found = begin;
        if (idle_since >= 0) {
          t.idle += begin - idle_since;
          measures_.span(thread, observe::activity::idle, idle_since, begin, 0, 0);
          idle_since = -1;
          if (thread == 0) engine_.helper().rest(false);
        }
        compute(thread, lock);
      } else {
        if (idle_since < 0) idle_since = begin;
        if (!over_ && drives)
          waiting_.poll(begin, idle_since, compute_threads_ == 1, [&](double s) { rest(lock, s); });
        else if (!over_)
          waiting_.sleep(lock);
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

void collective_run::show_progress(bool last) {
  observe::progress_state s;
  s.ranks = all_ranks();
  describe(s, last);
  progress_.show(s, last);
}

// --- the end of a call

void collective_run::end_with(role::outcome const& how) {
  end_.set(how);
  over_ = true;
  engine_.calls().work_arrived().notify_all();
}

void collective_run::fail_with(role::fail const& why) {
  if (why.why == role::fail::reason::lost_root) {
    auto const text = detail::format("lost the root (rank {})", root_);
    give_up(std::make_exception_ptr(lost_rank_error(root_, text)));
    engine_.calls().tell_root_lost(entry_.key, text);
    return;
  }
  if (!is_root() && !over_ && why.text.starts_with(watchdog_text)) say_state(why.text, *this);
  give_up(std::make_exception_ptr(protocol_error(why.text)));
}

void collective_run::give_up(std::exception_ptr error) {
  end_.fail(std::move(error));
  over_ = true;
  draining_ = true;
  engine_.calls().work_arrived().notify_all();
}

void collective_run::check_stop() {
  if (over_) return;
  if (auto const text = end_.missed_by_root())
    give_up(std::make_exception_ptr(protocol_error(*text)));
  else if (end_.stop_due())
    please_stop();
}

// --- external events

void collective_run::on_rank_lost(int rank) {
  int const r = entry_.ranks.from_wire(rank);
  if (r == team::none) return;
  measures_.lost(r, threads_);
  on_lost(r, engine_.peers().is_lost_from_outside(rank));
}

void collective_run::on_message(int wire_from, std::span<std::byte const> body, transport::packet& whole) {
  int const from = entry_.ranks.from_wire(wire_from);
  if (from == team::none || doubts_.has(from)) return;
  double const begin = measures_.span_begin();
  auto const size = body.size();
  try {
    receive(from, body, whole);
    measures_.span(threads_, observe::activity::receive, begin, measures_.span_begin(),
                   static_cast<std::uint64_t>(from), size);
  } catch (protocol_error const& e) {  // probably from another call, or misread as part of one
    doubts_.cannot_read(from, detail::format("message from rank {}: {}", from, e.what()));
  }
}

// Also called if the run has succeeded on this rank: with a single rank, nothing separates a nested
// call from the end.
void collective_run::on_failure(std::exception_ptr const& why, bool everywhere) {
  if (everywhere) end_.fail_everywhere(why);
  give_up(why);
}

void collective_run::on_left(int wire_rank) {
  int const rank = entry_.ranks.from_wire(wire_rank);
  if (over_ || rank == team::none) return;
  auto const text = detail::format(
      "rank {} has ended without making this skeleton call: all ranks must make the same calls", rank);
  if (is_root())
    abort(text);
  else
    end_.peer_left(text);
}

void collective_run::on_stopped(double seconds) { last_moved_ = std::min(now(), last_moved_ + seconds); }

// This rank prints its state, and the job ends. The root does so first. The others wait a little longer, in
// case the root itself hangs.
void collective_run::watch(double t) {
  double const limit = engine_.options().watchdog_seconds;
  if (limit <= 0 || over_) return;
  double const quiet = t - last_moved_;
  if (quiet < limit + (is_root() ? 0 : watchdog_patience)) return;
  auto const text = detail::format("{}{:.0f} s", watchdog_text, quiet);
  say_state(text, *this);
  if (is_root()) abort(text);
  over_ = true;  // only once
  engine_.end_job();
}

}  // namespace skel::detail
