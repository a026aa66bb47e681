// The root's record of the ranks in a call, and of its end: stop, stopped, finish.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "by_rank.hpp"
#include "call_message.hpp"

namespace skel::role {

/// A message and its destination.
struct addressed {
  rank_id to = 0;
  call_message what{};
};
using call_messages = std::vector<addressed>;

/// Says on which lost ranks the blamed work was running. -1 - r: rank r of the job, the root of an earlier
/// attempt.
[[nodiscard]] std::string text_of(blamed const& b);

/// The root's counterpart of the ranks' attendance. Once the run is done or has failed, it tells
/// every rank to stop, and ends the run when every living rank has stopped. Independent of the
/// work. A regular value; events append the root's messages to `out`.
class roll_call {
 public:
  roll_call() = default;
  roll_call(rank_id ranks, std::uint64_t call_hash) : call_hash_(call_hash), peers_(ranks) {}

  /// The run ends with this outcome, unless it ends with another already. After an early end, `done` gives
  /// the number of tasks that ran.
  void close(outcome how, call_messages& out);
  void on(rank_id from, call_message const& m, call_messages& out);
  void lost(rank_id rank, call_messages& out);
  void abort(std::string text, call_messages& out);
  /// For a transport that loses messages: repeats `stop` periodically until all ranks have stopped.
  void tick(call_messages& out);
  /// Repeats to `rank` the latest message to all: stop, finish or abort.
  void say_again(rank_id rank, call_messages& out) const;
  /// A rank declared dead sends a message that is not for the roll call.
  void heard(rank_id rank);
  /// Sets the counts of the outcome, for a skeleton that knows them only at the end. They replace
  /// those of close().
  void count(std::uint64_t tasks, std::uint64_t handed_out_again);

  [[nodiscard]] bool stopping() const { return stopping_; }
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] std::vector<rank_id> lost_ranks() const;
  [[nodiscard]] std::vector<rank_id> not_stopped() const;
  /// Whether this rank lives and has not said `stopped`.
  [[nodiscard]] bool runs(rank_id rank) const { return peers_.has(rank) && peers_[rank].runs(); }
  friend bool operator==(roll_call const&, roll_call const&) = default;
  /// Without what is only reported.
  auto fields() const {
    return std::tie(peers_, stopping_, finished_, stop_ticks_, outcome_.how, outcome_.more, outcome_.tasks);
  }

 private:
  struct peer {
    bool alive = true;
    bool stopped = false;
    [[nodiscard]] bool runs() const { return alive && !stopped; }
  };
  [[nodiscard]] bool early() const { return stopping_ && outcome_.how == outcome::status::stopped_early; }
  void maybe_finish(call_messages& out);
  void tell_all(call_message const& m, call_messages& out) const;

  std::uint64_t call_hash_ = 0;
  by_rank<peer> peers_;
  bool stopping_ = false;
  bool finished_ = false;
  unsigned stop_ticks_ = 0;  // since the ranks were asked to stop
  std::optional<std::string> aborted_{};
  outcome outcome_;
};

}  // namespace skel::role
