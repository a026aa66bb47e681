// The end of a call on one rank.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "engine/engine.hpp"
#include "protocol/outcome.hpp"
#include "skel/report.hpp"
#include "skel/stop.hpp"

namespace skel::detail {

/// Knows whether the call must end early, and how it has ended. Requires the engine's lock, except for
/// stop_wanted().
class call_end {
 public:
  /// `limit`: seconds from now.
  call_end(engine& of, stop_condition stop, std::optional<double> limit);

  /// Whether an early end was requested or may become due. May be called by any thread.
  [[nodiscard]] bool stop_wanted() const {
    return stop_.stop_requested() || time_limit_ ||
           (!is_nested_ && engine_.calls().stop_requested().load(std::memory_order_relaxed));
  }
  /// Before the call begins: it is made inside a task, which ends in order when the job is to stop; otherwise
  /// a part of a result would pass for one.
  void set_nested(bool nested) { is_nested_ = nested; }
  /// Whether an early end must be requested now. True once.
  [[nodiscard]] bool stop_due();
  /// When the run or the job must end, as a time of the engine; empty: no limit is known.
  [[nodiscard]] std::optional<double> latest() const;
  /// A rank has left its program during the call. Its text fails the call some time later unless the root
  /// ends it.
  void peer_left(std::string const& text);
  [[nodiscard]] std::optional<std::string> missed_by_root() const;

  /// The first error counts.
  void fail(std::exception_ptr error) {
    if (!error_) error_ = std::move(error);
  }
  /// The same for one that ends the call on all ranks.
  void fail_everywhere(std::exception_ptr error) {
    failed_everywhere_ = failed_everywhere_ || !error_;
    fail(std::move(error));
  }
  void set(role::outcome const& how) { outcome_ = how; }
  [[nodiscard]] bool failed() const { return error_ != nullptr; }
  /// Whether the other ranks know of an error.
  [[nodiscard]] bool failed_everywhere() const { return failed_everywhere_; }
  [[nodiscard]] std::optional<role::outcome> const& outcome() const { return outcome_; }
  /// Throws as docs/reference/failure-contract.md states.
  [[nodiscard]] report result_or_throw(report r) const;

 private:
  engine& engine_;
  stop_condition stop_;
  std::optional<double> time_limit_;  // a time of the engine
  bool stop_sent_ = false;
  struct leave {
    double since = 0;
    std::string text;
  };
  std::optional<leave> left_;
  bool is_nested_ = false;
  std::exception_ptr error_;
  bool failed_everywhere_ = false;
  std::optional<role::outcome> outcome_;
};

}  // namespace skel::detail
