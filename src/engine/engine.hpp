// The engine: one per process and transport. Moves messages, keeps the table of runs, lends compute threads.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "call_gate.hpp"
#include "compute_pool.hpp"
#include "detector.hpp"
#include "disks/disk_service.hpp"
#include "skel/context.hpp"
#include "transport/link.hpp"
#include "transport/transport.hpp"

namespace skel::detail {

/// A run as the engine sees it; ranks are those of the wires. All functions are called with the engine's lock
/// held, except work() and idle_work().
class run {
 public:
  virtual ~run() = default;
  virtual void on_message(int from, std::span<std::byte const> body, transport::packet& whole) = 0;
  virtual void on_rank_lost(int rank) = 0;
  /// The rank has left the body of run_main and will never take part again.
  virtual void on_left(int rank) = 0;
  virtual void on_tick(double now) = 0;
  /// The run of a pool thread; returns when the run has ended.
  virtual void work(unsigned thread) = 0;
  /// What the helper does without the lock when all compute threads are busy (the sink's backlog).
  virtual void idle_work() = 0;
  /// Whether nobody waits for answers of this rank while its compute threads are inside tasks.
  [[nodiscard]] virtual bool patient() const { return false; }
  [[nodiscard]] virtual std::string state() const = 0;
  /// What call it is, as call_description::text().
  [[nodiscard]] virtual std::string description() const { return {}; }
  /// It fails on all ranks, for a reason outside of its protocol.
  virtual void on_failure(call_failure const& /*why*/) {}
  /// On the root: a rank that was asked says what call it makes, or that it makes none of this number
  /// (empty).
  virtual void on_description(int /*rank*/, std::string const& /*theirs*/) {}
  /// On the root: a rank cannot read what another one sends it.
  virtual void on_doubt(int /*rank*/, int /*about*/, std::string const& /*text*/) {}
};

/// Control messages from here on are about calls (engine_calls.cpp), the others about how ranks leave.
inline constexpr std::uint8_t first_call_control = 16;

/// How a rank leaves run_main; see farewell.cpp.
struct farewell {
  int code = 0;
  bool own = false;  // failed by itself, not because it was told that another rank failed
  std::string text{};
  bool lost = false;      // a rank was lost or left on its own, so nobody may wait for all in MPI_Finalize
  bool returned = false;  // the code is what the body returned: nothing failed, and the others go on
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
  /// Messages move between skeleton calls too.
  [[nodiscard]] bool any_time() const { return any_time_; }
  /// What ranks ask of each other's disks.
  [[nodiscard]] disk_service& disks() { return disks_; }
  /// Seconds on the clock of the wires; see transport::now and owns_time.
  [[nodiscard]] double now() const { return wires_->now(); }
  [[nodiscard]] bool owns_time() const { return owns_time_; }
  std::condition_variable& work_arrived() { return work_arrived_; }
  std::atomic<bool>& stop_requested() { return stop_requested_; }

  /// The number of another context over this engine; the first has 1. The same on all ranks if they ask in
  /// the same order.
  [[nodiscard]] context_id next_context() { return ++contexts_; }

  /// A context of these ranks; calls on it may come from now on.
  void add_team(context_id id, std::vector<int> ranks);

  // --- with the lock held ---
  /// The ranks of a context, its root first; empty: all ranks.
  [[nodiscard]] std::vector<int> const& ranks_of(context_id id) const;
  void open(run_key key, run& r);
  void close(run_key key);
  /// Queues a message to another rank and sends what credit allows.
  void send(int to, run_key key, transport::packet body);
  /// Receives and delivers what has arrived, lets time pass; whether anything had. The caller holds the lock.
  bool progress();
  /// Makes progress until every packet has left this process or `seconds` are over.
  void flush(std::unique_lock<std::mutex>& lock, double seconds);
  /// Gives the lock away for `seconds` (0: lets other threads run). Where time is the wires' own, nothing can
  /// happen before a packet arrives, so there it lasts until then, or until the next tick is due.
  void rest(std::unique_lock<std::mutex>& lock, double seconds);
  /// The rank is taken for lost until it is heard of. The root tells the others.
  void declare_lost(int rank);
  [[nodiscard]] std::vector<bool> const& lost() const { return lost_; }
  [[nodiscard]] bool any_lost() const;
  void throw_if_peer_failed() const;
  /// The call fails on all ranks. (One that this rank has not reached fails when it does.)
  void fail_call(call_failure const& failure);
  /// Sends calls that failed in the gate to the other ranks, and fails them here.
  void settle_failures();
  /// On the root of the call: asks a rank what call it makes; the run's on_description() hears the answer.
  void ask_call(int rank, run_key call);
  /// Tells the root that this rank cannot read what another one sends it.
  void tell_doubt(run_key call, int about, std::string const& text);
  /// When the latest message came.
  [[nodiscard]] double last_arrival() const { return last_arrival_; }
  [[nodiscard]] std::uint64_t messages_sent() const { return messages_sent_; }
  [[nodiscard]] std::uint64_t bytes_sent() const { return bytes_sent_; }

  // --- without the lock ---
  [[nodiscard]] call_gate& gate() { return gate_; }
  /// Whether the calling thread is one of the engine's own: inside of a call, it runs the user's code.
  [[nodiscard]] bool owns_this_thread() const;
  /// The process is ending by exit() during a call: tells the other ranks, prints one line, ends with 1.
  [[noreturn]] void end_by_exit();
  /// Of run_main; empty elsewhere.
  std::string program_of_run_main;
  /// MPI ends, and the context lives on: further calls throw usage_error with this text.
  void close_wires(std::string const& text);
  /// Makes progress if nobody else is at it and nobody was for `seconds`.
  bool try_progress(double seconds);
  /// While an idle compute thread polls, the helper need not; the thread wakes it when it has got work.
  void rest_helper(bool rests) {
    if (helper_rests_.exchange(rests, std::memory_order_relaxed) && !rests) helper_wakes_.notify_all();
  }
  /// What the helper does when all compute threads are inside long tasks: moves messages, and gives the runs
  /// a chance to do what waits. Wires with a time of their own call it while a task's time passes.
  void serve();
  /// When the roles hear of the time again.
  [[nodiscard]] double next_tick() const;
  /// When messages were moved last; later where that gave the core away in vain: then this is when it may be
  /// tried again.
  [[nodiscard]] double last_progress() const { return last_progress_.load(std::memory_order_relaxed); }
  /// Lets `threads - 1` pool threads call r.work(1 ...) and returns when they all have returned; the caller's
  /// own part is `own`, called at once.
  void with_pool(run& r, unsigned threads, std::function<void()> const& own);

  /// Ends the job of this rank in run_main: tells, hears, returns the exit code; prints the failure of the
  /// lowest rank (without a program's name, nothing).
  int say_farewell(farewell own, std::string const& program);
  /// After say_farewell(): the ranks have agreed to end without MPI_Finalize.
  [[nodiscard]] bool leaves_abruptly() const { return leaves_abruptly_; }

  std::vector<observe::rank_trace> traces;  // of ended runs, on the root
  void say_warning();
  std::string
      warning;  // for the user, said once, when the first skeleton runs (unless --quiet came meanwhile)

 private:
  [[nodiscard]] transport::link& link_to(int peer);
  void pump(int peer);
  void transmit(int peer);
  void beat(double t);
  void found(int rank);
  void announce(int rank);
  void send_opinion(int to, int about);
  // With a thread level below SERIALIZED only the thread that made the context may call MPI.
  [[nodiscard]] bool may_call() const { return any_thread_ || std::this_thread::get_id() == owner_; }
  void dispatch(int from, transport::link::delivery d);
  void on_control(int from, std::span<std::byte const> body);
  void send_control(int to, std::uint8_t kind, farewell const& f);
  void tell_failure(farewell const& own);
  void on_call_control(int from, std::span<std::byte const> body);
  void on_call_failure(call_failure const& failure);
  /// Why the call fails, if the ranks cannot agree on it any more.
  [[nodiscard]] call_failure const* out_of_step(run_key call) const;
  void end_talk();
  void helper_loop();
  void ensure_helper();
  [[nodiscard]] bool patient() const;
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
  std::thread::id owner_ = std::this_thread::get_id();
  std::vector<std::unique_ptr<transport::link>> links_;  // made when the first message travels
  std::vector<bool> lost_;
  detector detector_;
  bool any_time_;
  bool leaves_abruptly_ = false;
  unsigned beats_ = 0;
  std::atomic<context_id> contexts_{1};
  std::map<run_key, run*> runs_;
  std::map<context_id, std::uint32_t> newest_run_;
  std::map<context_id, std::string> newest_call_;   // its description
  std::map<run_key, call_failure> failed_early_;    // calls that this rank has not reached
  std::map<context_id, call_failure> out_of_step_;  // contexts without further calls; the first to fail
  std::map<context_id, std::vector<int>> teams_;    // contexts of some of the ranks
  call_gate gate_;
  struct early {
    run_key key;
    int from;
    transport::packet body;
  };
  std::vector<early> early_;  // messages of runs that this rank has not reached
  std::uint64_t messages_sent_ = 0;
  std::uint64_t bytes_sent_ = 0;
  double last_tick_ = 0;
  double last_arrival_ = 0;
  std::atomic<double> last_progress_{0};
  std::atomic<bool> stop_requested_{false};
  std::condition_variable work_arrived_;

  // farewell
  bool says_farewell_ = false;
  std::map<int, farewell> farewells_;  // on rank 0
  std::optional<farewell> verdict_;
  std::optional<std::pair<int, std::string>> failed_peer_;

  // engine_helper.cpp
  std::thread helper_;
  std::mutex helper_mutex_;
  std::condition_variable helper_wakes_;
  std::atomic<bool> helper_rests_{false};
  int active_runs_ = 0;  // under helper_mutex_
  bool ending_ = false;
  compute_pool pool_;

  disk_service disks_;  // its thread wakes the helper: gone first
};

/// Thrown out of a skeleton call when another rank has failed outside of it and the job is ending.
struct peer_failed : std::exception {
  [[nodiscard]] char const* what() const noexcept override { return "another rank has failed"; }
};

}  // namespace skel::detail
