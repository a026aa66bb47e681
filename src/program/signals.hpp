// Orderly shutdown on SIGINT (Ctrl-C), SIGTERM, SIGUSR1 (sent by Slurm before a job ends) and
// --time-limit; SIGUSR2, on which a rank leaves its job.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

namespace skel::program {

/// Requests a stop on the first SIGINT, SIGTERM or SIGUSR1, or at the end of the time limit. A
/// second signal of the same kind gets its previous handling (by default it ends the process), so
/// that an unresponsive program can be stopped. Ignored signals stay ignored. At most one instance
/// per process; the destructor restores the previous handlers.
class stop_signals {
 public:
  using clock = std::chrono::steady_clock;
  /// The time limit counts from `since`.
  explicit stop_signals(std::optional<std::chrono::duration<double>> time_limit = std::nullopt,
                        clock::time_point since = clock::now());
  ~stop_signals();
  stop_signals(stop_signals const&) = delete;
  stop_signals& operator=(stop_signals const&) = delete;

  [[nodiscard]] std::stop_token token() const;
  /// Requests a stop on the first SIGUSR2: the rank is to retire (context::retire).
  [[nodiscard]] std::stop_token retirement() const;
  /// The end of the time limit, or of the job if there is none.
  [[nodiscard]] std::optional<clock::time_point> end() const;
  /// "SIGINT", "SIGTERM", "SIGUSR1" or "the time limit"; empty if no stop was requested.
  [[nodiscard]] std::string reason() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// The stop_signals of this process, which ranks that are its threads share.
class signals_of_process {
 public:
  /// `attempt`: at the program's body. The time limit counts from the first one.
  explicit signals_of_process(std::optional<std::chrono::duration<double>> time_limit, int attempt = 1) {
    std::lock_guard const lock(mutex);
    if (attempt == 1) began = stop_signals::clock::now();
    signals_ = current.lock();
    if (!signals_) current = signals_ = std::make_shared<stop_signals>(time_limit, began);
    kept.reset();
  }
  /// The body is about to run again: what has requested a stop holds then, too, and signals in between count.
  void keep() const {
    std::lock_guard const lock(mutex);
    kept = signals_;
  }
  ~signals_of_process() {
    std::lock_guard const lock(mutex);  // the next ones begin when these have ended
    signals_.reset();
  }
  signals_of_process(signals_of_process const&) = delete;
  signals_of_process& operator=(signals_of_process const&) = delete;
  stop_signals* operator->() const { return signals_.get(); }

 private:
  static inline std::mutex mutex;
  static inline std::weak_ptr<stop_signals> current;
  static inline std::shared_ptr<stop_signals> kept;
  static inline auto began = stop_signals::clock::now();  // the program may first get here in a later attempt
  std::shared_ptr<stop_signals> signals_;
};

}  // namespace skel::program
