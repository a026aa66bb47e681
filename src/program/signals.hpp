// SIGINT (Ctrl-C), SIGTERM, SIGUSR1 (Slurm's warning) and --time-limit: hand out no more, and end in order.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace skel::program {

/// While it lives, the first SIGINT, SIGTERM or SIGUSR1, or the end of the time limit, requests a stop. A
/// second signal of the kind does what it did before (by default it ends the process), so that a program that
/// does not react can be ended. A signal that is ignored stays ignored. One at a time per process; the
/// destructor puts the former handlers back.
class stop_signals {
 public:
  explicit stop_signals(std::optional<std::chrono::duration<double>> time_limit = std::nullopt);
  ~stop_signals();
  stop_signals(stop_signals const&) = delete;
  stop_signals& operator=(stop_signals const&) = delete;

  [[nodiscard]] std::stop_token token() const;
  /// "SIGINT", "SIGTERM", "SIGUSR1" or "the time limit"; empty as long as nothing asked for a stop.
  [[nodiscard]] std::string reason() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace skel::program
