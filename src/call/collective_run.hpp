// A collective skeleton call on one rank of its team, common to all skeletons.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "call_description.hpp"
#include "call_memory.hpp"
#include "end.hpp"
#include "engine/engine.hpp"
#include "engine/run.hpp"
#include "entry.hpp"
#include "measures.hpp"
#include "protocol/outcome.hpp"
#include "skel/error.hpp"
#include "skel/observe/progress.hpp"
#include "skel/stop.hpp"

namespace skel::detail {

/// The pause of a compute thread that has no work. A thread that drives communication polls for a while, then
/// sleeps for growing intervals; the others sleep until work arrives. An idle rank thus costs little and
/// answers within a millisecond. Requires the engine's lock.
class work_wait {
 public:
  explicit work_wait(engine& of) : engine_(of) {}

  /// Polling time of a lone thread before it yields the core, and of any thread before it sleeps.
  void set_poll_seconds(double seconds) { poll_seconds_ = seconds; }
  void set_spin_seconds(double seconds) { spin_seconds_ = seconds; }
  [[nodiscard]] unsigned threads() const { return threads_; }

  /// Until notified, at most for 5 ms.
  void sleep(std::unique_lock<std::mutex>& lock) {
    ++threads_;
    engine_.calls().work_arrived().wait_for(lock, std::chrono::milliseconds(5));
    --threads_;
  }
  /// `t`: the present time. The thread is idle since `idle_since`. `lone`: it is the only compute thread.
  /// `rest(seconds)` releases the lock.
  template <class Rest>
  void poll(double t, double idle_since, bool lone, Rest const& rest) {
    constexpr double shortest_sleep = 50e-6;
    constexpr double longest_sleep = 800e-6;
    // Messages come in bursts: a root that only collects must not sleep between them.
    double const idle = t - std::max(idle_since, engine_.driver().last_arrival());
    if (idle < poll_seconds_ && lone && engine_.place.has_cores) {
      engine_.driver().poll(t, poll_seconds_);
      return;
    }
    double step = 0;
    if (idle >= spin_seconds_) {  // growing steps: the wait never exceeds the idle time so far by much
      step = std::clamp(idle / 8, shortest_sleep, longest_sleep);
      if (step == longest_sleep) engine_.helper().rest(true);  // this thread polls often enough
    }
    ++threads_;
    rest(step);
    --threads_;
    engine_.driver().progress();
  }

 private:
  engine& engine_;
  unsigned threads_ = 0;  // that wait
  double poll_seconds_ = 0;
  double spin_seconds_ = 50e-6;
};

/// On the root: shows the progress on standard error, and passes it to the context's observer. Off on the
/// other ranks, and unless the user wants either.
class call_progress {
 public:
  call_progress(engine& of, std::string label, bool on)
      : engine_(of), label_(std::move(label)), start_(of.now()) {
    auto const mode = engine_.options().progress;
    if (on && (mode != observe::progress_mode::never || engine_.observed.observer))
      display_ = std::make_unique<observe::progress_display>(label_, mode);
  }

  explicit operator bool() const { return display_ != nullptr; }
  [[nodiscard]] std::string const& label() const { return label_; }
  /// `last`: the call is over. At most one thread at a time.
  void show(observe::progress_state s, bool last) {
    double const t = engine_.now();
    s.seconds = t - start_;
    if (!engine_.owns_time()) s.now = std::time(nullptr);
    constexpr double seconds_between_calls = 1;
    if (engine_.observed.observer &&
        (last || !observer_called_ || t - *observer_called_ >= seconds_between_calls)) {
      observer_called_ = t;
      engine_.observed.observer(label_, s);
    }
    last ? display_->finish(s) : display_->update(s);
  }

 private:
  engine& engine_;
  std::string label_;
  double start_;
  std::unique_ptr<observe::progress_display> display_;
  std::optional<double> observer_called_;  // time of its latest call
};

/// Finds out which ranks make another call than the root. Asks a rank for its call if it sends what this call
/// cannot have sent. If the descriptions differ, or all ranks in doubt have answered, the call fails on all
/// ranks. Requires the engine's lock.
class call_doubts final : public described_call {
 public:
  /// `over`: the call has ended here, so nothing is in doubt any more.
  call_doubts(call_entry const& entry, call_description const& own, std::atomic<bool> const& over)
      : entry_(entry), own_(own), over_(over) {}

  /// On the root: whether a rank's hello has the hash of another call.
  [[nodiscard]] bool of_another_call(int rank, std::uint64_t hash);
  /// A message of this rank cannot be decoded.
  void cannot_read(int from, std::string const& text);
  /// Whether its messages must be ignored: the call is about to fail and must not succeed before.
  [[nodiscard]] bool has(int rank) const { return asked_.contains(rank); }

  [[nodiscard]] std::string description() const override { return own_.text(); }
  void on_description(int wire_rank, std::string const& theirs) override;
  void on_doubt(int wire_rank, int wire_about, std::string const& text) override;

 private:
  void ask(int rank, std::string const& why);
  [[nodiscard]] call_table& calls() const { return context_access::engine_of(entry_.ctx).calls(); }

  call_entry const& entry_;
  call_description const& own_;
  std::atomic<bool> const& over_;
  struct question {
    std::string why;
    bool answered = false;
  };
  std::map<int, question> asked_;
};

/// Parameters of a call in addition to its work.
struct call_options {
  std::string label;  // for progress and trace
  stop_condition stop;
  std::optional<double> time_limit_seconds;
  bool observed = true;  // shown as progress and in traces, and preceded by warnings
};

/// Takes them from the options of a skeleton. `name` is the label if the user has given none.
template <class Options>
[[nodiscard]] call_options call_options_of(Options const& o, std::string const& name) {
  if (o.time_limit_seconds) require_seconds(name, "time_limit_seconds", *o.time_limit_seconds);
  return {o.label.empty() ? name : o.label, o.stop, o.time_limit_seconds};
}

/// Enters the run into the engine's table, lets the compute threads work and drives communication
/// until the run is over, ends together with the other ranks, and returns the report or throws. A
/// skeleton adds its roles: the messages they handle and the work to compute.
class collective_run : public run {
 public:
  /// Called by the caller's thread. Returns the report or throws as docs/reference/failure-contract.md
  /// states. `may_leave`: a rank that is to leave the job does so before the call.
  report execute(bool may_leave = true);
  /// After a last checkpoint, which may have taken long: throws if the others have gone on without this root.
  void throw_if_left();

  /// A rank of the team is lost. May be called repeatedly for the same rank. `killed`: from outside.
  virtual void on_lost(int rank, bool killed) = 0;
  void on_message(int from, std::span<std::byte const> body, transport::packet& whole) final;
  void on_rank_lost(int rank) final;
  void on_left(int rank) final;
  void on_stopped(double seconds) override;
  void on_failure(std::exception_ptr const& why, bool everywhere) final;
  [[nodiscard]] described_call* described() final { return &doubts_; }
  /// All of them once its value is remembered. A call of a team is part of a task.
  [[nodiscard]] double kept() override { return memory_.value() != nullptr ? measures_.seconds() : 0; }
  void work(unsigned thread) final;

 protected:
  /// `skeleton` is its name. The skeleton adds everything else that must be the same on all ranks
  /// to call_.
  collective_run(context& ctx, call_options const& options, std::string_view skeleton);

  // --- implemented by a skeleton; called with the engine's lock ---
  /// Starts the roles. May release the lock for the user's code, because the run is not visible
  /// yet.
  virtual void begin(std::unique_lock<std::mutex>& lock) = 0;
  /// Handles a message of another rank. A protocol_error fails the run on this rank.
  virtual void receive(int from, std::span<std::byte const> body, transport::packet& whole) = 0;
  /// Whether this thread has work to compute.
  [[nodiscard]] virtual bool find_work(unsigned thread) = 0;
  /// Computes one quantum of the work found by find_work(). The lock is held on entry and exit, but
  /// not in between.
  virtual void compute(unsigned thread, std::unique_lock<std::mutex>& lock) = 0;
  /// Called after a quantum, or after waiting for work.
  virtual void after_quantum(unsigned /*thread*/, std::unique_lock<std::mutex>& /*lock*/) {}
  /// Releases the lock for `seconds`, on the thread that drives communication while it waits for
  /// work.
  virtual void rest(std::unique_lock<std::mutex>& lock, double seconds) {
    engine_.driver().rest(lock, seconds);
  }
  /// The whole run must end early. Called once.
  virtual void please_stop() = 0;
  /// On the root: the run fails on all ranks.
  virtual void abort(std::string const& text) = 0;
  /// Fills the skeleton's part of the report: names, and the data of its roles.
  virtual void describe(report& r) const = 0;
  /// Fills the skeleton's part of the progress: tasks and losses; at the end (`last`) those of the
  /// outcome.
  virtual void describe(observe::progress_state& s, bool last) const = 0;

  // --- used by a skeleton ---
  [[nodiscard]] double now() const { return engine_.now(); }
  [[nodiscard]] bool is_root() const { return rank_ == root_; }
  [[nodiscard]] int all_ranks() const { return entry_.ranks.size(); }
  /// Ends the run with an outcome of the roles.
  void end_with(role::outcome const& how);
  void fail_with(role::fail const& why);
  /// Ends the run on this rank: execute() throws `error`.
  void give_up(std::exception_ptr error);
  void check_stop();
  /// Ends the job if the run has made no progress for too long.
  void watch(double t);
  void show_progress(bool last);

  static constexpr int root_ = 0;
  engine& engine_;
  call_entry entry_;
  int rank_;
  unsigned threads_;
  unsigned compute_threads_;  // those that take work; fewer than threads_ if the work has threads of its own
  std::atomic<bool> over_{false};      // the run has ended or failed here
  std::atomic<bool> draining_{false};  // results of tasks no longer matter
  double last_moved_;                  // time of the latest progress, for the watchdog
  call_description call_;
  call_memory memory_;
  call_doubts doubts_;
  call_end end_;
  call_measures measures_;
  call_progress progress_;
  work_wait waiting_;

 private:
  void open(bool may_leave);
};

}  // namespace skel::detail
