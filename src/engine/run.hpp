// A call in progress, from the engine's point of view.
#pragma once

#include <cstddef>
#include <exception>
#include <span>
#include <string>

#include "call_gate.hpp"
#include "transport/packet.hpp"

namespace skel::detail {

/// Helps to find out which ranks make another call than the others. Requires the engine's lock.
class described_call {
 public:
  virtual ~described_call() = default;
  /// From call_description::text().
  [[nodiscard]] virtual std::string description() const = 0;
  /// On the root: a queried rank reports the call it makes; empty if it makes none of this number.
  virtual void on_description(int rank, std::string const& theirs) = 0;
  /// On the root: a rank cannot decode the messages of another.
  virtual void on_doubt(int rank, int about, std::string const& text) = 0;
};

/// A call on one rank. Ranks are numbered as in the transport. All functions except work() and idle_work()
/// are called with the engine's lock held.
class run {
 public:
  virtual ~run() = default;
  virtual void on_message(int from, std::span<std::byte const> body, transport::packet& whole) = 0;
  virtual void on_rank_lost(int rank) = 0;
  /// The rank has left the body of run_main and will not take part again.
  virtual void on_left(int rank) = 0;
  virtual void on_tick(double now) = 0;
  /// Before a tick: this process was stopped for this time. Time limits exclude it.
  virtual void on_stopped(double /*seconds*/) {}
  /// The call fails for a reason outside its protocol. `everywhere`: on all ranks; otherwise its team has
  /// lost a rank, or the team's task has failed on one.
  virtual void on_failure(std::exception_ptr const& /*why*/, bool /*everywhere*/) {}
  /// This rank is to leave the job (or, if not `leaves`, to stay after all): begins nothing more and hands
  /// back what it has not begun. Returns whether the others need nothing more of it. Repeated. By default a
  /// rank leaves when the call has ended.
  virtual bool vacate(bool /*leaves*/) { return false; }
  /// On the root: seconds of this call so far that another attempt at the body need not repeat.
  [[nodiscard]] virtual double kept() { return 0; }
  /// Runs on a pool thread. Returns when the run has ended.
  virtual void work(unsigned thread) = 0;
  /// Called by the helper without the lock while all compute threads are busy (the sink's backlog).
  virtual void idle_work() {}
  /// Whether idle_work() calls the user's code, which may take long.
  [[nodiscard]] virtual bool idle_work_takes_long() const { return false; }
  /// Whether no rank awaits an answer from this rank while its compute threads are inside tasks.
  [[nodiscard]] virtual bool patient() const { return false; }
  [[nodiscard]] virtual std::string state() const = 0;
  /// Null: ranks do not compare their calls.
  [[nodiscard]] virtual described_call* described() { return nullptr; }
};

}  // namespace skel::detail
