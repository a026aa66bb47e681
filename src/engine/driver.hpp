// Drives communication: receives messages and passes them to the parts of the engine, and lets time pass.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

#include "clocks.hpp"
#include "peers.hpp"

namespace skel::detail {

/// Any thread may drive, one at a time. Requires its mutex, the engine's lock, except where stated.
class driver {
 public:
  driver(wires& w, disk_service& disks, call_table& calls, clocks& c, farewell& end, peers& p);

  /// The engine's lock. It guards everything that driver refers to, and all calls of the transport.
  [[nodiscard]] std::mutex& mutex() { return mutex_; }
  /// The lock, for a thread that begins a call. Throws usage_error if the thread has it already: it runs the
  /// user's code inside another call.
  [[nodiscard]] std::unique_lock<std::mutex> lock_for_call();
  /// Receives and delivers arrived messages, or lets time pass. Returns whether there were any.
  bool progress();
  /// Like progress(), but looks for a message until `seconds` after `begin`, which is the present time,
  /// keeps the core and the lock meanwhile, and returns after the first one.
  bool poll(double begin, double seconds);
  /// Drives communication if no thread is doing so or has done so for `seconds`. Without the lock.
  bool try_progress(double seconds);
  /// Releases the lock for `seconds` (0: lets other threads run). If the transport owns time,
  /// nothing can happen before a packet arrives, so this returns then or when the next tick is due.
  void rest(std::unique_lock<std::mutex>& lock, double seconds);
  /// Drives communication while `waiting()`, at most for `seconds`, and rests for `pause` in between.
  template <class Waiting>
  void drive_while(std::unique_lock<std::mutex>& lock, double seconds, double pause, Waiting const& waiting) {
    for (double const end = wires_.now() + seconds; waiting() && wires_.now() < end;) {
      progress();
      if (waiting()) rest(lock, pause);
    }
  }
  /// Drives communication until every packet has left this process or `seconds` have passed.
  void flush(std::unique_lock<std::mutex>& lock, double seconds) {
    drive_while(lock, seconds, 0, [this] { return wires_.sending(); });
  }

  /// Sends what other threads have left for the driving thread: failed calls, messages of disks.
  void send_pending();
  /// Time of the next tick of the roles.
  [[nodiscard]] double next_tick() const;
  /// This process was stopped for this time. Without the lock.
  void note_stopped(double seconds) { stopped_.fetch_add(seconds, std::memory_order_relaxed); }
  /// Time when communication was last driven. Later if that yielded the core in vain: then it is
  /// the time of the next attempt. Without the lock.
  [[nodiscard]] double last_progress() const { return last_progress_.load(std::memory_order_relaxed); }
  /// Time of the latest message.
  [[nodiscard]] double last_arrival() const { return last_arrival_; }
  /// Mean of what receiving and handling a small message took lately; 0: unknown.
  [[nodiscard]] double seconds_per_message() const {
    return handled_ == 0 ? 0 : handling_seconds_ / static_cast<double>(handled_);
  }
  /// Whether no rank awaits an answer, and nothing is in flight.
  [[nodiscard]] bool patient() const;

 private:
  void handle(transport::transport::arrival&& a);
  void attend(double t, transport::transport::news const& news, bool beats);
  void hold(double seconds);
  void dispatch_held();
  void dispatch(int from, transport::link::delivery& d);
  void tick(double t);
  void note_handling(std::uint64_t messages, double seconds);

  std::mutex mutex_;
  wires& wires_;
  disk_service& disks_;
  call_table& calls_;
  clocks& clocks_;
  farewell& farewell_;
  peers& peers_;
  std::uint64_t handled_ = 0;  // messages; older ones count less
  double handling_seconds_ = 0;
  double last_tick_;
  double last_arrival_ = 0;
  std::atomic<double> last_progress_{0};
  std::atomic<double> stopped_{0};                              // seconds since the last tick
  double waits_for_helper_ = 0;                                 // leaves out ticks until then
  std::deque<std::pair<int, transport::link::delivery>> held_;  // received by hold()
};

}  // namespace skel::detail
