// A collective call whose ranks are peers: the root's roll call ends it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collective_run.hpp"
#include "loopback.hpp"
#include "role/roll_call.hpp"

namespace skel::detail {

/// Base of all skeletons except the farm, whose root role includes the roll call.
class peer_run : public collective_run {
 protected:
  using collective_run::collective_run;

  // --- implemented by a skeleton ---
  /// Sends a message. A message to this rank itself waits for deliver_own().
  virtual void send_call(int to, role::call_message m) = 0;
  virtual void deliver_own() = 0;

  // --- used by a skeleton ---
  void send_all(role::call_messages& list);
  /// On the root: performs a step of the roll call, e.g. `call_roll(&role::roll_call::lost, rank)`,
  /// and sends its messages.
  template <class... Parameters, class... Arguments>
  void call_roll(void (role::roll_call::*step)(Parameters...), Arguments&&... arguments) {
    role::call_messages told;
    ((*roll_).*step)(std::forward<Arguments>(arguments)..., told);
    send_all(told);
  }
  void abort(std::string const& text) final { call_roll(&role::roll_call::abort, text); }
  /// Performs the actions common to all skeletons. Returns false for an action of the skeleton
  /// itself.
  template <class Action>
  bool perform_common(Action& action) {
    if (auto* const t = std::get_if<role::tell_root>(&action))
      send_call(root_, std::move(t->what));
    else if (auto const* e = std::get_if<role::end>(&action))
      end_with(e->how);
    else if (auto const* f = std::get_if<role::fail>(&action))
      fail_with(*f);
    else
      return false;
    return true;
  }
  /// On the root: whether `m` is the hello of a rank that makes another call.
  template <class Message>
  [[nodiscard]] bool another_call(int from, Message const& m) {
    auto const* const call = std::get_if<role::call_message>(&m);
    auto const* const hello = call == nullptr ? nullptr : std::get_if<role::hello>(call);
    return is_root() && hello != nullptr && of_another_call(from, hello->call_hash);
  }
  /// The end of on_tick().
  void after_tick(double t);
  /// For the report, the progress and state().
  [[nodiscard]] std::vector<int> lost_ranks() const;
  [[nodiscard]] std::string waits_to_stop() const;

  std::optional<role::roll_call> roll_;  // on the root
};

}  // namespace skel::detail
