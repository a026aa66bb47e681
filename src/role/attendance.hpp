// One rank's part in the end of a call: stop, drain, stopped, finish, abort, lost root.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "role/call_message.hpp"
#include "role/digest.hpp"

namespace skel::role {

/// Written once for the participants of all skeletons; the root's counterpart is roll_call. A regular value;
/// events append actions (tell_root, drain, end, fail) to `out`, a list of the skeleton's own actions. On a
/// wire that loses messages, a role calls say_again() after some ticks without an answer.
class attendance {
 public:
  attendance() = default;
  attendance(rank_id self, rank_id root) : self_(self), root_(root) {}

  /// A task threw: the rank starts nothing more, and the root is told.
  template <class Actions>
  void failed(task_id task, std::string text, Actions& out) {
    if (ended_) return;
    failure_ = role::failed{task, std::move(text)};
    out.push_back(tell_root{*failure_});
    drain_once(false, out);
  }
  /// This rank wants the run to end early.
  template <class Actions>
  void please_stop(Actions& out) {
    if (!active()) return;
    wants_stop_ = true;
    out.push_back(tell_root{role::please_stop{}});
  }
  /// After drain: nothing runs. True: the root has just been told.
  template <class Actions>
  bool quiet(Actions& out) {
    if (!awaited()) return false;
    told_stopped_ = true;
    out.push_back(tell_root{stopped{}});
    return true;
  }
  /// What this rank has told the root, and the root has not answered.
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
    if (auto const* s = std::get_if<stop>(&m)) {
      stop_heard_ = true;
      told_stopped_ = false;  // the root says it again: it has not heard the answer
      drain_once(s->early, out);
    } else if (auto const* f = std::get_if<finish>(&m)) {
      ended_ = true;
      out.push_back(end{f->how});
    } else if (auto const* a = std::get_if<role::abort>(&m)) {
      ended_ = true;
      out.push_back(fail{fail::reason::protocol, a->text});
    }
  }
  /// True: it was the root, and the run is over here.
  template <class Actions>
  bool lost(rank_id rank, Actions& out) {
    if (ended_ || rank != root_ || rank == self_) return false;
    ended_ = true;
    out.push_back(fail{fail::reason::lost_root, {}});
    return true;
  }

  /// Neither stopping nor over.
  [[nodiscard]] bool active() const { return !draining_ && !ended_; }
  [[nodiscard]] bool draining() const { return draining_; }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool stop_heard() const { return stop_heard_; }
  [[nodiscard]] bool told_stopped() const { return told_stopped_; }
  /// The root waits to hear that nothing runs here.
  [[nodiscard]] bool awaited() const { return stop_heard_ && !told_stopped_ && !ended_; }
  friend bool operator==(attendance const&, attendance const&) = default;
  void hash(digest& d) const {
    d.add(draining_).add(stop_heard_).add(told_stopped_).add(ended_).add(wants_stop_);
    d.add(failure_ ? failure_->task + 1 : 0);
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
