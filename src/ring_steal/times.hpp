// When a rank of a ring_steal call asks, refuses, passes on bounds, and states debts.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "books.hpp"
#include "checkpoint/interval.hpp"
#include "recorder.hpp"
#include "ring_steal/role/borrower.hpp"

namespace skel::detail {

/// Times of a thief and of a victim, in seconds.
class thief_times {
 public:
  /// Whether this rank, which has no rank to ask, asks again: the pauses get longer until a rank gives tasks.
  [[nodiscard]] bool retries(bool resting, double t) {
    if (!resting) {
      retry_at_.reset();
      return false;
    }
    if (!retry_at_) retry_at_ = t + backoff_;
    if (t < *retry_at_) return false;
    retry_at_.reset();
    backoff_ = std::min(backoff_ * 2, longest_backoff);
    return true;
  }
  void succeeded() { backoff_ = shortest_backoff; }
  /// Whether this rank, which has nothing to give, refuses the thieves that wait.
  [[nodiscard]] bool refuses(bool thieves_wait, double t) {
    if (thieves_wait && thieves_since_ && t - *thieves_since_ > thief_patience) {
      thieves_since_.reset();
      return true;
    }
    if (!thieves_wait)
      thieves_since_.reset();
    else if (!thieves_since_)
      thieves_since_ = t;
    return false;
  }
  void gave() { thieves_since_.reset(); }
  /// Whether this rank passes on a bound.
  [[nodiscard]] bool spreads(double t) {
    if (t < spread_at_) return false;
    spread_at_ = t + spread_interval;
    return true;
  }
  /// When this rank must act at the latest. `news`: it has a bound to pass on.
  [[nodiscard]] std::optional<double> next(bool news) const {
    if (!news) return retry_at_;
    return retry_at_ ? std::min(*retry_at_, spread_at_) : spread_at_;
  }

 private:
  static constexpr double shortest_backoff = 100e-6;
  static constexpr double longest_backoff = 20e-3;
  // A victim with nothing to give refuses its thieves after this time.
  static constexpr double thief_patience = 1e-3;
  // A rank passes on bounds at most this often.
  static constexpr double spread_interval = 200e-6;

  double backoff_ = shortest_backoff;
  std::optional<double> retry_at_;
  std::optional<double> thieves_since_;
  double spread_at_ = 0;
};

/// When the values of debts are stated: for checkpoints, and for the lenders of suspect debts.
class statement_times {
 public:
  /// Seconds between statements about a debt that is suspect.
  static constexpr double suspects_interval = 50e-3;

  /// Threads leave copies of the tasks they take.
  [[nodiscard]] bool due() const { return due_; }
  /// The debts to state for a checkpoint. A debt with running tasks waits until each of its threads has left
  /// a copy.
  [[nodiscard]] std::vector<role::debt_id> ready(steal_books& books, recorder* to, double t) {
    std::vector<role::debt_id> all;
    if (!due_ && t < at_ && !(to != nullptr && to->due(t))) return all;
    due_ = false;
    for (auto const& [id, d] : books.debts()) {
      if (!d.changed) continue;
      if (d.running == d.copied)
        all.push_back(id);
      else
        due_ = true;
    }
    began_ = !due_;
    return all;
  }
  /// After ready() and the statements: whether all changed debts were stated. `interval`: between
  /// checkpoints.
  [[nodiscard]] bool complete(double interval, double t) {
    if (!std::exchange(began_, false)) return false;
    at_ = t + std::max(interval / per_checkpoint, shortest);
    return true;
  }
  /// The suspect debts to state. The next borrower then resumes close to the task that ended the previous
  /// one. A borrower that computes for a whole interval has passed that point.
  [[nodiscard]] static std::vector<role::debt_id> ready_suspects(steal_books& books,
                                                                 role::borrower const& debts, double t) {
    std::vector<role::debt_id> all;
    if (!debts.has_met_suspects()) return all;
    for (auto const& [id, d] : books.debts())
      if (d.changed && d.running == d.copied && debts.suspect(id) && t >= d.state_at) all.push_back(id);
    return all;
  }
  /// Seconds until the next statement of a suspect debt, when this one took `seconds`.
  [[nodiscard]] static double pause(double seconds) {
    return std::max(suspects_interval, suspects_share * seconds);
  }

 private:
  // A statement rises by one lender at a time, so statements are made more often than checkpoints.
  static constexpr double per_checkpoint = 4;
  static constexpr double shortest = 10e-3;  // seconds
  // Ratio of working time to statement time for a suspect debt.
  static constexpr double suspects_share = 20;

  bool due_ = false;
  bool began_ = false;  // all changed debts are being stated
  double at_ = 0;       // when the next ones are due
};

}  // namespace skel::detail
