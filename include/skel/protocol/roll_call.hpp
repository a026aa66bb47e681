// The root's book of who takes part in a ring_steal call, and its end: stop, stopped, finish.
#pragma once

#include <vector>

#include "skel/protocol/stealer.hpp"

namespace skel::protocol {

/// A regular value; events append their actions to `out`. Work is none of its business: it learns that the
/// run is done, or that it failed, tells every rank to stop, and ends the run when every living one has.
class roll_call {
 public:
  roll_call() = default;
  explicit roll_call(stealer_config config);

  /// Debt 0 is paid, by the results of `tasks` tasks.
  void done(std::uint64_t tasks, steal_actions& out);
  void stop_early(steal_actions& out);
  void source_failed(std::string text, steal_actions& out);
  void on(rank_id from, loan_message const& m, steal_actions& out);
  void lost(rank_id rank, steal_actions& out);
  void abort(std::string text, steal_actions& out);

  [[nodiscard]] bool stopping() const { return stopping_; }
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] std::vector<rank_id> lost_ranks() const;
  [[nodiscard]] std::vector<rank_id> not_stopped() const;
  friend bool operator==(roll_call const&, roll_call const&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  struct peer {
    rank_id rank = 0;
    bool alive = true;
    bool stopped = false;
    friend bool operator==(peer const&, peer const&) = default;
  };
  void stop(outcome how, steal_actions& out);
  void maybe_finish(steal_actions& out);
  void tell_all(loan_message const& m, steal_actions& out) const;

  stealer_config config_;
  std::vector<peer> peers_;
  bool stopping_ = false;
  bool finished_ = false;
  outcome outcome_;
};

}  // namespace skel::protocol
