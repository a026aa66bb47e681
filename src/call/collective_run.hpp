// A collective skeleton call on one rank of its team, whatever the skeleton.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "call_description.hpp"
#include "engine/engine.hpp"
#include "engine/team.hpp"
#include "observe/trace_buffer.hpp"
#include "rank_stats.hpp"
#include "role/outcome.hpp"
#include "skel/error.hpp"
#include "skel/observe/progress.hpp"
#include "skel/observe/trace.hpp"
#include "skel/stop.hpp"

namespace skel::detail {

/// How an abort begins that the watchdog has asked for: whoever hears it says where it stands.
inline constexpr std::string_view watchdog_text = "no progress for ";

/// What a call is told beside its work.
struct call_options {
  std::string label;  // for progress and trace
  stop_condition stop;
  std::optional<double> time_limit_seconds;
  bool observed = true;  // shown as progress, in traces, and warned before
};

/// Of the options of a skeleton; `name` is the label where the user has given none.
template <class Options>
[[nodiscard]] call_options call_options_of(Options const& o, std::string const& name) {
  if (o.time_limit_seconds) require_seconds(name, "time_limit_seconds", *o.time_limit_seconds);
  return {o.label.empty() ? name : o.label, o.stop, o.time_limit_seconds, true};
}

/// Enters the run into the engine's table, lets the compute threads work and move messages until it is over,
/// ends together with the other ranks, and returns the report or throws. A skeleton adds its roles: what they
/// hear, and what there is to compute.
class collective_run : public run {
 public:
  /// The caller's part: returns the report or throws what the failure contract says.
  report execute();

  /// A rank of the team is lost, perhaps said again.
  virtual void on_lost(int rank) = 0;
  void on_message(int from, std::span<std::byte const> body, transport::packet& whole) final;
  void on_rank_lost(int rank) final;
  void on_left(int rank) final;
  void on_failure(call_failure const& why) final;
  void on_description(int rank, std::string const& theirs) final;
  void on_doubt(int rank, int about, std::string const& text) final;
  [[nodiscard]] std::string description() const final { return call_.text(); }
  void work(unsigned thread) final;

 protected:
  /// `skeleton` is its name; what else must be the same on all ranks, it adds to call_.
  collective_run(context& ctx, call_options options, std::string_view skeleton);

  // --- what a skeleton adds; called with the engine's lock ---
  /// The roles begin. It may give the lock away for code of the user's: nobody sees the run yet.
  virtual void begin(std::unique_lock<std::mutex>& lock) = 0;
  /// A message of another rank. A protocol_error fails the run on this rank.
  virtual void receive(int from, std::span<std::byte const> body, transport::packet& whole) = 0;
  /// Whether there is something for this thread to compute.
  [[nodiscard]] virtual bool find_work(unsigned thread) = 0;
  /// One quantum of what find_work() has found. The lock is held on entry and exit, not meanwhile.
  virtual void compute(unsigned thread, std::unique_lock<std::mutex>& lock) = 0;
  /// What else there is to do after a quantum, or after waiting for work.
  virtual void after_quantum(unsigned /*thread*/, std::unique_lock<std::mutex>& /*lock*/) {}
  /// Gives the lock away for `seconds`, on the thread that listens while it waits for work.
  virtual void rest(std::unique_lock<std::mutex>& lock, double seconds) { engine_.rest(lock, seconds); }
  /// The whole run is to end early; said once.
  virtual void please_stop() = 0;
  /// On the root: the run fails on all ranks.
  virtual void abort(std::string const& text) = 0;
  /// Its own part of the report: names, and what only its roles know.
  virtual void describe(report& r) const = 0;
  /// Its own part of what is shown: tasks and losses; at the end (`last`) what the outcome says.
  virtual void describe(observe::progress_state& s, bool last) const = 0;

  // --- what a skeleton uses ---
  [[nodiscard]] double now() const { return engine_.now(); }
  [[nodiscard]] bool is_root() const { return rank_ == root_; }
  /// What roles of any skeleton want of the engine in the end.
  void end_with(role::outcome const& how);
  void fail_with(role::fail const& why);
  /// Ends the run on this rank: execute() throws `error`.
  void give_up(std::exception_ptr error);
  /// Whether somebody wants the run to end early; from any thread, without the lock.
  [[nodiscard]] bool stop_wanted() const;
  /// On the root: whether a rank's hello has the hash of another call. It is then asked, and the run fails.
  [[nodiscard]] bool of_another_call(int rank, std::uint64_t hash);
  void check_stop();
  void watch(double t);
  void say_state(std::string const& why) const;
  void show_progress(bool last);
  [[nodiscard]] rank_stats own_stats();
  /// On the root: what another rank has measured.
  void add_stats(rank_stats stats);
  [[nodiscard]] std::uint64_t tasks_run() const;
  void span(unsigned thread, observe::activity what, double begin, double end, std::uint64_t first,
            std::uint64_t count);
  /// Sends `m` with `body` behind it, which has taken since `begin` (of span_begin()) to make.
  template <class Message>
  void post(int to, Message const& m, transport::packet body, double begin) {
    std::vector<std::byte> head;
    head.reserve(64);
    encode(m, head);
    body.prepend(head);
    auto const size = body.size();
    engine_.send(team_.to_wire(to), key_, std::move(body));
    span(threads_, observe::activity::send, begin, span_begin(), static_cast<std::uint64_t>(to), size);
  }
  /// The time, where anybody wants to know it.
  [[nodiscard]] double span_begin() const { return trace_ ? now() : 0; }

  // What one compute thread measures; padded so that threads do not share lines.
  struct alignas(128) thread_clock {
    double busy = 0;
    double idle = 0;
    double idle_since = -1;  // waits for work since then
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
  double start_;
  std::vector<thread_clock> clocks_;
  unsigned waiting_threads_ = 0;       // for work
  double spin_seconds_ = 50e-6;        // for which a thread without work polls before it sleeps
  std::atomic<bool> over_{false};      // the run has ended or failed here
  std::atomic<bool> draining_{false};  // what tasks return does not matter any more
  std::exception_ptr error_;
  std::optional<role::outcome> outcome_;
  double last_moved_;  // for the watchdog
  call_description call_;
  std::unique_ptr<observe::trace_buffer> trace_;
  std::unique_ptr<observe::progress_display> display_;

 private:
  void open();
  void wait_for_work(unsigned thread, double idle_since, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] report make_report();
  [[nodiscard]] report result_or_throw(report r) const;

  void doubt(int rank, std::string const& text);
  [[nodiscard]] bool is_lost(int rank) const {
    return engine_.lost()[static_cast<std::size_t>(team_.to_wire(rank))];
  }

  call_options options_;
  bool stop_sent_ = false;
  bool failed_on_all_ = false;
  struct question {
    std::string text;  // why it was asked
    bool answered = false;
  };
  std::map<int, question> doubts_;  // on the root: ranks that were asked what call they make
  std::vector<rank_stats> stats_;   // of the other ranks, on the root
  std::uint64_t base_messages_ = 0;
  std::uint64_t base_bytes_ = 0;
};

}  // namespace skel::detail
