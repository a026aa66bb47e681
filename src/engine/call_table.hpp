// The calls in progress on this rank, and messages between engines about calls.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "call_gate.hpp"
#include "run.hpp"
#include "wires.hpp"

namespace skel::detail {

/// Delivers the messages of calls, also those that come before this rank makes the call, and fails calls on
/// all ranks.
///
/// Requires the engine's lock, except for gate(), next_context() and stop_requested().
class call_table {
 public:
  explicit call_table(wires& w) : wires_(w), gate_(w.rank(), w.size()) {}

  [[nodiscard]] call_gate& gate() { return gate_; }
  /// The number of another context over this engine; the first has 1. All ranks get the same number
  /// if they call in the same order.
  [[nodiscard]] context_id next_context() { return ++contexts_; }
  std::atomic<bool>& stop_requested() { return stop_requested_; }
  /// Whether a context belongs to another one on which a call is under way.
  [[nodiscard]] bool is_nested(context_id of) const;
  /// Compute threads wait for work with the engine's lock.
  std::condition_variable& work_arrived() { return work_arrived_; }

  /// Registers a context of these ranks of the context `parent`, which may now receive calls.
  void add_team(context_id id, context_id parent, std::vector<int> const& ranks);
  /// The ranks of a context, its root first; empty: all ranks.
  [[nodiscard]] std::vector<int> const& ranks_of(context_id id) const;
  /// Calls on this team, and on teams of its ranks made from it, throw `why` on this rank from now
  /// on; so does one that is in progress.
  void cancel_team(context_id id, std::exception_ptr const& why);
  /// Calls `revoke` once when the team is cancelled, or now if it has been: it ends the user's own MPI
  /// calls on the team's communicator. Must not throw.
  void on_cancel(context_id id, std::function<void()> revoke);
  /// Calls on all contexts throw `why` from now on.
  void shut(std::exception_ptr const& why) { gate_.shut_all(why); }

  void open(run_key key, run& r);
  void close(run_key key);
  [[nodiscard]] std::map<run_key, run*> const& runs() const { return runs_; }
  /// Whether a call in progress has this rank.
  [[nodiscard]] bool has(int rank) const;
  /// A rank that makes a call which this rank has not reached.
  [[nodiscard]] std::optional<int> early_rank(bool with_teams) const;

  /// Sends a message of a call, after the failures that this rank knows of.
  void send(int to, run_key key, transport::packet&& body) {
    settle_failures();
    wires_.send(to, key, std::move(body));
  }
  void on_message(int from, run_key key, transport::packet& body);

  /// Fails the call on all ranks. A call that this rank has not reached fails when it does.
  void fail_call(call_failure const& failure);
  /// The root of the call is lost for this rank: should it still live, the call fails there, too.
  void tell_root_lost(run_key call, std::string const& text);
  /// Sends calls that failed in the gate to the other ranks, and fails them here.
  void settle_failures();
  /// On the root of the call: asks a rank which call it makes. on_description() receives the
  /// answer.
  void ask_call(int rank, run_key call);
  /// Reports to the root that this rank cannot decode the messages of another.
  void tell_doubt(run_key call, int about, std::string const& text);
  /// A message of another rank's call table.
  void on_control(int from, std::span<std::byte const> body);

 private:
  void on_failure(call_failure const& failure);
  void tell_failure(int to, call_failure const& failure);
  /// Why the call fails, if the ranks can no longer agree on it.
  [[nodiscard]] call_failure const* out_of_step(run_key call) const;
  /// Whether the team is `other` or was made from it.
  [[nodiscard]] bool is_within(context_id team, context_id other) const;

  wires& wires_;
  call_gate gate_;
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
  struct early {
    run_key key;
    int from;
    transport::packet body;
  };
  std::vector<early> early_;  // messages of runs that this rank has not reached
  std::atomic<bool> stop_requested_{false};
  std::condition_variable work_arrived_;
};

}  // namespace skel::detail
