// A collective call whose ranks are peers: they speak peer_message, and a roll call of the root ends it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collective_run.hpp"
#include "loopback.hpp"
#include "role/roll_call.hpp"

namespace skel::detail {

/// All skeletons but the farm, whose ledger calls the roll itself.
class peer_run : public collective_run {
 protected:
  using collective_run::collective_run;

  // --- what a skeleton adds ---
  /// Sends a message with its payload; one to this rank itself waits for deliver_own().
  virtual void send(int to, role::peer_message m) = 0;
  virtual void deliver_own() = 0;

  // --- what a skeleton uses ---
  void send_all(role::peer_messages& list);
  /// On the root: a step of the roll call, e.g. `call_roll(&role::roll_call::lost, rank)`, and what it
  /// says.
  template <class... Parameters, class... Arguments>
  void call_roll(void (role::roll_call::*step)(Parameters...), Arguments&&... arguments) {
    role::peer_messages told;
    ((*roll_).*step)(std::forward<Arguments>(arguments)..., told);
    send_all(told);
  }
  void abort(std::string const& text) final { call_roll(&role::roll_call::abort, text); }
  /// The end of on_tick().
  void after_tick(double t);
  /// Of the report, of the progress and of state().
  [[nodiscard]] std::vector<int> lost_ranks() const;
  [[nodiscard]] std::string waits_to_stop() const;

  std::optional<role::roll_call> roll_;  // on the root
};

}  // namespace skel::detail
