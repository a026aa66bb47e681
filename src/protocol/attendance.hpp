// One rank's part in the end of a call: stop, drain, stopped, finish, abort, loss of the root.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "base/overloaded.hpp"
#include "call_message.hpp"

namespace skel::role {

/// Shared by the ranks of all skeletons; the root's counterpart is roll_call. A regular value;
/// events append actions (tell_root, drain, end, fail) to `out`, the skeleton's own list of
/// actions. On a transport that loses messages, a role calls say_again() after some ticks without
/// an answer.
class attendance {
 public:
  attendance() = default;
  attendance(rank_id self, rank_id root) : self_(self), root_(root) {}

  /// A task threw: this rank starts nothing more, and reports it to the root.
  template <class Actions>
  void failed(task_id task, std::string text, Actions& out) {
    if (ended_) return;
    failure_ = role::failed{task, std::move(text)};
    out.push_back(tell_root{*failure_});
    drain_once(false, out);
  }
  /// This rank requests an early end of the run.
  template <class Actions>
  void please_stop(Actions& out) {
    if (!active()) return;
    wants_stop_ = true;
    out.push_back(tell_root{role::please_stop{}});
  }
  /// After drain: nothing runs. Returns true if the root has just been notified.
  template <class Actions>
  bool quiet(Actions& out) {
    if (!awaited()) return false;
    told_stopped_ = true;
    out.push_back(tell_root{stopped{}});
    return true;
  }
  /// Repeats the messages to the root that it has not answered.
  template <class Actions>
  void say_again(Actions& out) const {
    if (ended_) return;
    if (failure_ && !stop_heard_) out.push_back(tell_root{*failure_});
    if (wants_stop_ && !draining_) out.push_back(tell_root{role::please_stop{}});
    if (told_stopped_) out.push_back(tell_root{stopped{}});
  }
  template <class Actions>
  void on(call_message const& m, Actions& out) {
    if (ended_) return;
    std::visit(overloaded{
                   [&](stop const& s) {
                     stop_heard_ = true;
                     told_stopped_ = false;  // the root repeats its message: it has not received the answer
                     drain_once(s.early, out);
                   },
                   [&](finish const& f) {
                     ended_ = true;
                     out.push_back(end{f.how});
                   },
                   [&](role::abort const& a) {
                     ended_ = true;
                     out.push_back(fail{fail::reason::protocol, a.text});
                   },
                   [](auto const& /*to the root*/) {},
               },
               m);
  }
  /// Returns true if the lost rank was the root; the run is then over on this rank.
  template <class Actions>
  bool lost(rank_id rank, Actions& out) {
    if (ended_ || rank != root_ || rank == self_) return false;
    ended_ = true;
    out.push_back(fail{fail::reason::lost_root, {}});
    return true;
  }

  /// Neither stopping nor ended.
  [[nodiscard]] bool active() const { return !draining_ && !ended_; }
  [[nodiscard]] bool draining() const { return draining_; }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool told_stopped() const { return told_stopped_; }
  /// The root waits for the report that nothing runs here.
  [[nodiscard]] bool awaited() const { return stop_heard_ && !told_stopped_ && !ended_; }
  friend bool operator==(attendance const&, attendance const&) = default;
  auto fields() const {
    return std::tie(draining_, stop_heard_, told_stopped_, ended_, wants_stop_, failure_);
  }

 private:
  template <class Actions>
  void drain_once(bool early, Actions& out) {
    if (!std::exchange(draining_, true)) out.push_back(drain{early});
  }

  rank_id self_ = 0;
  rank_id root_ = 0;
  bool draining_ = false;
  bool stop_heard_ = false;
  bool told_stopped_ = false;
  bool ended_ = false;
  bool wants_stop_ = false;
  std::optional<role::failed> failure_{};  // the latest
};

}  // namespace skel::role
