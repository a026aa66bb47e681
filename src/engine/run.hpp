// A call in progress, from the engine's point of view.
#pragma once

#include <cstddef>
#include <exception>
#include <span>
#include <string>

#include "call_gate.hpp"
#include "transport/packet.hpp"

namespace skel::detail {

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

}  // namespace skel::detail
