// A collective skeleton call on one rank of its team, common to all skeletons.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "call_description.hpp"
#include "engine/engine.hpp"
#include "engine/team.hpp"
#include "observe/trace_buffer.hpp"
#include "protocol/outcome.hpp"
#include "rank_stats.hpp"
#include "skel/error.hpp"
#include "skel/observe/progress.hpp"
#include "skel/observe/trace.hpp"
#include "skel/stop.hpp"

namespace skel::detail {

/// Start of the text of an abort by the watchdog. A rank that receives it prints its state.
inline constexpr std::string_view watchdog_text = "no progress for ";

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
  return {o.label.empty() ? name : o.label, o.stop, o.time_limit_seconds, true};
}

/// Enters the run into the engine's table, lets the compute threads work and drives communication
/// until the run is over, ends together with the other ranks, and returns the report or throws. A
/// skeleton adds its roles: the messages they handle and the work to compute.
class collective_run : public run {
 public:
  /// Called by the caller's thread. Returns the report or throws as docs/reference/failure-contract.md
  /// states.
  report execute();

  /// A rank of the team is lost. May be called repeatedly for the same rank.
  virtual void on_lost(int rank) = 0;
  /// Before that: it was killed from outside.
  virtual void on_outside_loss(int /*rank*/) {}
  void on_message(int from, std::span<std::byte const> body, transport::packet& whole) final;
  void on_rank_lost(int rank) final;
  void on_left(int rank) final;
  void on_failure(call_failure const& why) final;
  void on_cancelled(std::exception_ptr const& why) final { give_up(why); }
  void on_description(int rank, std::string const& theirs) final;
  void on_doubt(int rank, int about, std::string const& text) final;
  [[nodiscard]] std::string description() const final { return call_.text(); }
  void work(unsigned thread) final;

 protected:
  /// `skeleton` is its name. The skeleton adds everything else that must be the same on all ranks
  /// to call_.
  collective_run(context& ctx, call_options options, std::string_view skeleton);

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
  /// Ends the run with an outcome of the roles.
  void end_with(role::outcome const& how);
  void fail_with(role::fail const& why);
  /// Ends the run on this rank: execute() throws `error`.
  void give_up(std::exception_ptr error);
  /// Whether an early end was requested. May be called from any thread, without the lock.
  [[nodiscard]] bool stop_wanted() const;
  /// On the root: whether a rank's hello has the hash of another call. That rank is then queried,
  /// and the run fails.
  [[nodiscard]] bool of_another_call(int rank, std::uint64_t hash);
  void check_stop();
  void watch(double t);
  void say_state(std::string const& why) const;
  void show_progress(bool last);
  [[nodiscard]] rank_stats own_stats();
  /// On the root: adds the measurements of another rank.
  void add_stats(rank_stats stats);
  [[nodiscard]] std::uint64_t tasks_run() const;
  void span(unsigned thread, observe::activity what, double begin, double end, std::uint64_t first,
            std::uint64_t count);
  [[nodiscard]] int all_ranks() const { return team_.size(); }
  /// Sends `m` followed by `body`. `begin` (from span_begin()) is when packing started.
  template <class Message>
  void post(int to, Message const& m, transport::packet body, double begin) {
    head_.clear();
    encode(m, head_);
    body.prepend(head_);
    auto const size = body.size();
    engine_.calls().send(team_.to_wire(to), key_, std::move(body));
    span(threads_, observe::activity::send, begin, span_begin(), static_cast<std::uint64_t>(to), size);
  }
  /// The current time if traces are recorded, otherwise 0.
  [[nodiscard]] double span_begin() const { return trace_ ? now() : 0; }

  // Measurements of one compute thread. Padded, so that threads do not share cache lines.
  struct alignas(128) thread_clock {
    double busy = 0;
    double idle = 0;
    double idle_since = -1;  // waiting for work since then
    double found = 0;        // the latest work
    std::uint64_t tasks = 0;
  };

  context& ctx_;
  engine& engine_;
  team const& team_;  // ranks below are ranks of it
  call_slot slot_;
  run_key key_;
  int rank_;
  int root_ = 0;
  bool computes_ = true;
  unsigned threads_;
  unsigned compute_threads_;  // those that take work; fewer than threads_ if the work has threads of its own
  std::vector<std::byte> head_;  // of the message that is being sent
  double start_;
  std::vector<thread_clock> clocks_;
  unsigned waiting_threads_ = 0;       // waiting for work
  double poll_seconds_ = 0;            // polling time of a lone thread without work before it yields
  double spin_seconds_ = 50e-6;        // polling time of a thread without work before it sleeps
  std::atomic<bool> over_{false};      // the run has ended or failed here
  std::atomic<bool> draining_{false};  // results of tasks no longer matter
  std::exception_ptr error_;
  std::optional<role::outcome> outcome_;
  double last_moved_;  // time of the latest progress, for the watchdog
  call_description call_;
  std::unique_ptr<observe::trace_buffer> trace_;
  std::unique_ptr<observe::progress_display> display_;

 private:
  void open();
  void wait_for_work(unsigned thread, double t, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] report make_report();
  void keep_traces();
  [[nodiscard]] report result_or_throw(report r) const;

  void doubt(int rank, std::string const& text);
  [[nodiscard]] bool is_lost(int rank) const { return engine_.wires().is_lost(team_.to_wire(rank)); }

  call_options options_;
  std::optional<double> observer_called_;  // time of its latest call
  bool stop_sent_ = false;
  bool failed_on_all_ = false;
  struct question {
    std::string text;  // the reason for the query
    bool answered = false;
  };
  struct early_leave {
    double since = 0;
    std::string text;
  };
  std::optional<early_leave> left_;  // except on the root: a rank has left its program during the call
  std::map<int, question> doubts_;   // on the root: ranks that were asked which call they make
  std::set<int> lost_before_;        // ranks that were lost when the call began
  std::set<int> traced_losses_;      // in the trace
  std::vector<rank_stats> stats_;    // of the other ranks, on the root
  std::uint64_t base_messages_ = 0;
  std::uint64_t base_bytes_ = 0;
};

}  // namespace skel::detail
