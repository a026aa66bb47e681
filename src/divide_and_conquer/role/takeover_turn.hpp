// A rank's permission to do the work of lost ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "divide_and_conquer/role/action.hpp"
#include "divide_and_conquer/role/message.hpp"
#include "divide_and_conquer/role/rank_span.hpp"

namespace skel::role {

/// The work of lost ranks may have ended them. A rank therefore asks the root (divide_root)
/// before each such job and runs it alone: it asks when nothing runs, and starts nothing else until
/// the job is done. If the rank is lost meanwhile, the root knows what it was running. The root's
/// own jobs continue while it waits, because it is the last to be allowed.
///
/// A regular value.
class takeover_turn {
 public:
  takeover_turn() = default;
  explicit takeover_turn(rank_id self) : on_root_(self == 0) {}

  /// Starts a pass, in which may_start() is called for all jobs that could start. A request that is
  /// not repeated is withdrawn.
  void begin_pass() { wanted_ = false; }
  void end_pass(divide_actions& out) {
    if (asked_ && !wanted_) end(*std::exchange(asked_, std::nullopt), false, out);
  }
  /// Whether this job may start now; if so, it starts. `own`: the job is this rank's if no rank is
  /// lost.
  bool may_start(group_work work, bool own, divide_actions& out) {
    if (own && (on_root_ || (!asked_ && !holds_))) return ++running_ > 0;
    if (own) return false;
    if (asked_ == work) {
      wanted_ = true;
      if (!allowed_) return false;
      asked_.reset();
      holds_ = work;
      return ++running_ > 0;
    }
    if (asked_ || holds_ || (running_ > 0 && !on_root_)) return false;
    asked_ = work;
    wanted_ = true;
    allowed_ = false;
    out.push_back(divide_act::send{0, divide_say::ask_takeover{work}});
    return false;
  }
  void allow(group_work work) { allowed_ = allowed_ || asked_ == work; }
  /// Another rank does the work.
  void leave(group_work work) {
    if (asked_ == work) asked_.reset();
  }
  /// A job is done.
  void finished(group_work work, divide_actions& out) {
    --running_;
    if (holds_ == work) end(*std::exchange(holds_, std::nullopt), true, out);
  }

  /// The work for which permission is requested.
  [[nodiscard]] std::optional<group_work> asked() const { return asked_; }
  friend bool operator==(takeover_turn const&, takeover_turn const&) = default;
  auto fields() const { return std::tie(asked_, allowed_, holds_, running_); }

 private:
  static void end(group_work work, bool done, divide_actions& out) {
    out.push_back(divide_act::send{0, divide_say::end_takeover{work, done}});
  }

  bool on_root_ = false;
  std::optional<group_work> asked_;
  bool allowed_ = false;  // the requested work
  bool wanted_ = false;   // in this pass
  std::optional<group_work> holds_;
  std::uint64_t running_ = 0;
};

}  // namespace skel::role
