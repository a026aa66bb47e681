// The engine: one per process and transport. Drives communication, keeps the table of runs, and
// lends compute threads.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "call_gate.hpp"
#include "compute_pool.hpp"
#include "detector.hpp"
#include "devices.hpp"
#include "disks/disk_service.hpp"
#include "observe/clock_offsets.hpp"
#include "skel/context.hpp"
#include "transport/link.hpp"
#include "transport/transport.hpp"

namespace skel::detail {

/// A run from the engine's point of view. Ranks are numbered as in the transport. All functions
/// except work() and idle_work() are called with the engine's lock held.
class run {
 public:
  virtual ~run() = default;
  virtual void on_message(int from, std::span<std::byte const> body, transport::packet& whole) = 0;
  virtual void on_rank_lost(int rank) = 0;
  /// The rank has left the body of run_main and will not take part again.
  virtual void on_left(int rank) = 0;
  virtual void on_tick(double now) = 0;
  /// Runs on a pool thread. Returns when the run has ended.
  virtual void work(unsigned thread) = 0;
  /// Called by the helper without the lock while all compute threads are busy (the sink's backlog).
  virtual void idle_work() = 0;
  /// Whether no rank awaits an answer from this rank while its compute threads are inside tasks.
  [[nodiscard]] virtual bool patient() const { return false; }
  [[nodiscard]] virtual std::string state() const = 0;
  /// The description of the call, from call_description::text().
  [[nodiscard]] virtual std::string description() const { return {}; }
  /// The call fails on all ranks, for a reason outside its protocol.
  virtual void on_failure(call_failure const& /*why*/) {}
  /// The team of this call has lost a rank, or its task has failed on one.
  virtual void on_cancelled(std::exception_ptr const& /*why*/) {}
  /// On the root: a queried rank reports the call it makes; empty if it makes none of this number.
  virtual void on_description(int /*rank*/, std::string const& /*theirs*/) {}
  /// On the root: a rank cannot decode the messages of another.
  virtual void on_doubt(int /*rank*/, int /*about*/, std::string const& /*text*/) {}
};

/// Control messages from this number on concern calls (call_table.cpp); lower ones concern
/// leaving.
inline constexpr std::uint8_t first_call_control = 16;
/// Those from this number on measure clocks (clocks.cpp).
inline constexpr std::uint8_t first_clock_control = 32;

/// Seconds by which other ranks than the root wait longer before their watchdogs end the run, in case the
/// root itself hangs.
inline constexpr double watchdog_patience = 5;

/// How a rank leaves run_main; see farewell.cpp.
struct farewell {
  int code = 0;
  bool own = false;  // failed by itself, not because another rank failed
  std::string text{};
  bool lost = false;  // a rank was lost or left on its own, so MPI_Finalize, which waits for all ranks, must
                      // be skipped
  bool returned = false;  // the body returned the code: nothing failed, and the other ranks continue
  bool by_loss = false;   // a rank that was lost is the reason
  [[nodiscard]] bool failed() const { return code != 0 && !returned; }
};

class engine {
 public:
  engine(std::unique_ptr<transport::transport> wires, context_options options, std::string host);
  ~engine();
  engine(engine const&) = delete;
  engine& operator=(engine const&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] std::string const& host() const { return host_; }
  [[nodiscard]] transport::transport& wires() { return *wires_; }
  [[nodiscard]] context_options& options() { return options_; }
  [[nodiscard]] std::mutex& mutex() { return mutex_; }
  [[nodiscard]] bool any_thread() const { return any_thread_; }
  /// Whether communication is also driven between skeleton calls.
  [[nodiscard]] bool any_time() const { return any_time_; }
  /// Serves requests of other ranks for this rank's disk, and makes such requests.
  [[nodiscard]] disk_service& disks() { return disks_; }
  /// Seconds on the transport's clock; see transport::now and owns_time.
  [[nodiscard]] double now() const { return wires_->now(); }
  [[nodiscard]] bool owns_time() const { return owns_time_; }
  std::condition_variable& work_arrived() { return work_arrived_; }
  std::atomic<bool>& stop_requested() { return stop_requested_; }

  /// The number of another context over this engine; the first has 1. All ranks get the same number
  /// if they call in the same order.
  [[nodiscard]] context_id next_context() { return ++contexts_; }

  /// Registers a context of these ranks of the context `parent`, which may now receive calls.
  void add_team(context_id id, context_id parent, std::vector<int> const& ranks);

  // --- with the lock held ---
  /// The ranks of a context, its root first; empty: all ranks.
  [[nodiscard]] std::vector<int> const& ranks_of(context_id id) const;
  void open(run_key key, run& r);
  void close(run_key key);
  /// Queues a message to another rank and sends what credit allows.
  void send(int to, run_key key, transport::packet body);
  /// Receives and delivers arrived messages, or lets time pass. Returns whether there were any.
  /// Requires the lock.
  bool progress();
  /// Like progress(), but looks for a message until `seconds` after `begin`, which is the present time,
  /// keeps the core and the lock meanwhile, and returns after the first one. Requires the lock.
  bool poll(double begin, double seconds);
  /// Drives communication until every packet has left this process or `seconds` have passed.
  void flush(std::unique_lock<std::mutex>& lock, double seconds);
  /// Releases the lock for `seconds` (0: lets other threads run). If the transport owns time,
  /// nothing can happen before a packet arrives, so this returns then or when the next tick is due.
  void rest(std::unique_lock<std::mutex>& lock, double seconds);
  /// Declares the rank dead until it is heard from again. The root notifies the others.
  void declare_lost(int rank);
  /// Mean of what receiving and handling a small message took lately; 0: unknown.
  [[nodiscard]] double seconds_per_message() const {
    return handled_ == 0 ? 0 : handling_seconds_ / static_cast<double>(handled_);
  }
  [[nodiscard]] bool is_lost(int rank) const { return lost_.contains(rank); }
  [[nodiscard]] bool any_lost() const { return !lost_.empty(); }
  /// Whether the lost rank is known to have been killed from outside: no task is to blame.
  [[nodiscard]] bool is_lost_from_outside(int rank) const { return lost_outside_.contains(rank); }
  void throw_if_peer_failed() const;
  /// Calls on this team, and on teams of its ranks made from it, throw `why` on this rank from now
  /// on; so does one that is in progress.
  void cancel_team(context_id id, std::exception_ptr const& why);
  /// Calls `revoke` once when the team is cancelled, or now if it has been: it ends the user's own MPI
  /// calls on the team's communicator. Must not throw.
  void on_cancel(context_id id, std::function<void()> revoke);
  /// Fails the call on all ranks. A call that this rank has not reached fails when it does.
  void fail_call(call_failure const& failure);
  /// Sends calls that failed in the gate to the other ranks, and fails them here.
  void settle_failures();
  /// On the root of the call: asks a rank which call it makes. The run's on_description() receives
  /// the answer.
  void ask_call(int rank, run_key call);
  /// Reports to the root that this rank cannot decode the messages of another.
  void tell_doubt(run_key call, int about, std::string const& text);
  /// Ends this process with code 1 after a second in which other ranks may speak. If it is rank 0, they end,
  /// too, also those inside a task that does not return.
  [[noreturn]] void end_job();
  /// Time of the latest message.
  [[nodiscard]] double last_arrival() const { return last_arrival_; }
  /// The first time: begins to measure how this rank's clock differs from the root's, in the background.
  void measure_clock_once();
  /// Every rank measures at the end of a call of all ranks. Waits until the root knows the offsets of
  /// all that live, at most 50 ms.
  void measure_clock_at_end(std::unique_lock<std::mutex>& lock, std::uint32_t call);
  /// On the root: whether the rank's clock was measured or is the root's.
  [[nodiscard]] bool knows_clock(int rank) const;
  /// On the root: its time when the rank's clock shows `t`.
  [[nodiscard]] double root_time(int rank, double t) const;
  [[nodiscard]] std::uint64_t messages_sent() const { return messages_sent_; }
  [[nodiscard]] std::uint64_t bytes_sent() const { return bytes_sent_; }

  // --- without the lock ---
  [[nodiscard]] call_gate& gate() { return gate_; }
  /// Whether the calling thread belongs to the engine, and therefore runs the user's code inside a
  /// call.
  [[nodiscard]] bool owns_this_thread() const;
  /// The process is ending by exit() during a call: notifies the other ranks, prints one line, and
  /// exits with 1.
  [[noreturn]] void end_by_exit();
  /// Set by run_main; otherwise empty.
  std::string program_of_run_main;
  /// Whether this process runs no other job, so that all of its contexts belong to one program.
  bool is_process = false;
  /// If it does: see call/store_session.hpp. Released with the context.
  std::shared_ptr<void> stores;
  /// MPI ends while the context lives on: later calls throw usage_error with this text.
  void close_wires(std::string const& text);
  /// Drives communication if no thread is doing so or has done so for `seconds`.
  bool try_progress(double seconds);
  /// While an idle compute thread polls, the helper rests. The thread wakes it when it gets work.
  void rest_helper(bool rests) {
    if (helper_rests_.exchange(rests, std::memory_order_relaxed) && !rests) helper_wakes_.notify_all();
  }
  /// The helper's work while all compute threads are inside long tasks: drives communication, and
  /// lets the runs handle pending work. A transport that owns time calls it while a task's time
  /// passes.
  void serve();
  /// Time of the next tick of the roles.
  [[nodiscard]] double next_tick() const;
  /// Time when communication was last driven. Later if that yielded the core in vain: then it is
  /// the time of the next attempt.
  [[nodiscard]] double last_progress() const { return last_progress_.load(std::memory_order_relaxed); }
  /// Lets `threads - 1` pool threads call r.work(1 ...) while the caller runs `own`. Returns when
  /// all have returned.
  void with_pool(run& r, unsigned threads, std::function<void()> const& own);

  /// Ends the job of this rank in run_main: exchanges outcomes, prints the failure of the lowest
  /// rank (not without a program name), and returns the exit code.
  int say_farewell(farewell own, std::string const& program);
  /// After say_farewell(): the ranks have agreed to skip MPI_Finalize.
  [[nodiscard]] bool leaves_abruptly() const { return leaves_abruptly_; }
  /// Whether losses of ranks are why the job failed; valid after say_farewell().
  [[nodiscard]] bool ended_by_loss() const { return ended_by_loss_; }

  /// The accelerator of a compute thread, see worker_info::device.
  [[nodiscard]] std::optional<int> device(unsigned thread) const {
    return device_of(visible_devices_, on_host, thread);
  }
  /// Compute threads of this rank.
  [[nodiscard]] int threads() const {
    return owns_time_ ? 1
                      : threads_with_devices(options_.threads, options_.threads_per_device,
                                             devices_of_rank(visible_devices_, on_host));
  }
  host_place on_host;      // set by the code that makes the engine; default: no other rank shares the host
  bool has_cores = false;  // set likewise: each compute thread of the host has a core of its own

  std::vector<observe::rank_trace> traces;  // of ended runs, on the root
  observe::progress_observer observer;      // used on the root
  void say_warnings();
  std::vector<std::string>
      warnings;  // for the user; printed when the next skeleton runs (unless --quiet is set)

 private:
  [[nodiscard]] transport::link& link_to(int peer);
  void pump(int peer, transport::link& l);
  void transmit(int peer, transport::link& l);
  void transmit(int peer, transport::packet p);
  void beat(double t);
  void found(int rank);
  void announce(int rank);
  void send_opinion(int to, int about);
  void report(int about, bool lost);
  void forget_loss(int rank);
  void on_opinion(int from, int about, bool lost);
  // With a thread level below SERIALIZED, only the thread that made the context may call MPI.
  [[nodiscard]] bool may_call() const { return any_thread_ || std::this_thread::get_id() == owner_; }
  void handle(transport::transport::arrival a);
  void dispatch(int from, transport::link::delivery d);
  void on_control(int from, std::span<std::byte const> body);
  void send_control(int to, std::uint8_t kind, farewell const& f);
  void tell_failure(farewell const& own);
  void end_without_root();
  void forget_end() {
    if (ends_by_loss_) ends_at_ = std::numeric_limits<double>::infinity();
  }
  void end_if_due(double t);
  void end_if_locked();
  void measure_clock(std::uint32_t call);
  void ask_for_time();
  void on_clock_control(int from, std::span<std::byte const> body);
  void on_call_control(int from, std::span<std::byte const> body);
  void on_call_failure(call_failure const& failure);
  /// Why the call fails, if the ranks can no longer agree on it.
  [[nodiscard]] call_failure const* out_of_step(run_key call) const;
  /// Whether the team is `other` or was made from it.
  [[nodiscard]] bool is_within(context_id team, context_id other) const;
  void end_talk();
  void helper_loop();
  std::unique_lock<std::mutex> drive_if_free(bool& arrived);
  void ensure_helper();
  [[nodiscard]] bool patient() const;
  void note_handling(std::uint64_t messages, double seconds);
  void send_for_disks();
  void serve_disks_to_the_end(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool idle() const { return active_runs_ == 0 && !(any_time_ && disks_.busy()); }

  std::mutex mutex_;
  std::unique_ptr<transport::transport> wires_;
  context_options options_;
  std::string host_;
  int rank_;
  int size_;
  bool any_thread_;
  bool owns_time_;
  bool looked_for_inner_threads_ = false;
  std::thread::id owner_ = std::this_thread::get_id();
  std::unordered_map<int, transport::link> links_;  // each is created with the first message to its rank
  std::set<int> lost_, lost_outside_;
  detector detector_;
  bool any_time_;
  bool leaves_abruptly_ = false, ended_by_loss_ = false;
  int visible_devices_ = count_visible_devices();
  std::atomic<context_id> contexts_{1};
  std::map<run_key, run*> runs_;
  std::map<context_id, std::uint32_t> newest_run_;
  std::map<context_id, std::string> newest_call_;   // its description
  std::map<run_key, call_failure> failed_early_;    // calls that this rank has not reached
  std::map<context_id, call_failure> out_of_step_;  // contexts without further calls; first failure
  struct team_entry {
    context_id parent;
    std::vector<int> ranks;
    std::function<void()> revoke{};
  };
  std::map<context_id, team_entry> teams_;              // contexts of some of the ranks
  std::map<context_id, std::exception_ptr> cancelled_;  // teams without further calls, and why
  call_gate gate_;
  struct early {
    run_key key;
    int from;
    transport::packet body;
  };
  std::vector<early> early_;  // messages of runs that this rank has not reached
  std::uint64_t messages_sent_ = 0;
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t handled_ = 0;  // messages; older ones count less
  double handling_seconds_ = 0;
  double last_tick_ = 0;
  double last_arrival_ = 0;
  std::atomic<double> last_progress_{0};
  std::atomic<bool> stop_requested_{false};
  std::condition_variable work_arrived_;

  // clocks.cpp
  struct {
    std::uint32_t call = 0;
    unsigned rounds_left = 0;
    double asked = -std::numeric_limits<double>::infinity();
    observe::clock_sample best;
  } measurement_;
  struct rank_clock {
    observe::clock_offsets offsets;
    std::uint32_t measured_in = 0;  // the newest call at whose end the rank has measured
  };
  std::map<int, rank_clock> clocks_;  // on the root

  // farewell
  bool says_farewell_ = false;
  std::map<int, farewell> farewells_;  // on rank 0
  std::optional<farewell> verdict_;
  std::optional<std::pair<int, std::string>> failed_peer_;
  // The job has ended or will fail, but this rank may be inside a task that does not return.
  double ends_at_ = std::numeric_limits<double>::infinity();
  bool ends_by_loss_ = false;  // of the root: not if the program hears of it before

  // helper.cpp
  std::thread helper_;
  std::mutex helper_mutex_;
  std::condition_variable helper_wakes_;
  std::atomic<bool> helper_rests_{false};
  int active_runs_ = 0;  // under helper_mutex_
  bool ending_ = false;
  double locked_since_ =
      std::numeric_limits<double>::infinity();  // when the helper last found the lock taken
  compute_pool pool_;

  disk_service disks_;  // its thread wakes the helper, so it is destroyed first
};

/// Thrown from a skeleton call if another rank has failed outside of it and the job is ending.
struct peer_failed : std::exception {
  [[nodiscard]] char const* what() const noexcept override { return "another rank has failed"; }
};

}  // namespace skel::detail
