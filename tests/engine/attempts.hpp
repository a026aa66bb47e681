// Jobs whose ranks are threads, and whose bodies run again when the root dies.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/attempts.hpp"
#include "engine/context_access.hpp"
#include "skel/context.hpp"
#include "transport/hub_transport.hpp"

namespace attempts_test {

struct rank_ended : std::runtime_error {
  rank_ended() : std::runtime_error("this rank is dead") {}
};

// The result of a task, and that of all of them together.
inline std::uint64_t value_of(std::uint64_t task) { return (task + 1) * 0x9e3779b97f4a7c15U; }
inline std::uint64_t sum_of(std::uint64_t tasks) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < tasks; ++i) sum += value_of(i);
  return sum;
}

// A job whose ranks are threads. The end of one is certain at once for the others.
class job {
 public:
  explicit job(int ranks, bool restarts = true, bool certain = true)
      : net_(std::make_shared<hub::network>(ranks)),
        restarts_(restarts),
        certain_(certain),
        codes(static_cast<std::size_t>(ranks)) {}

  // Ends the calling rank, whose number in the job is `rank`.
  [[noreturn]] void end(int rank) {
    net_->kill(rank);
    throw rank_ended();
  }
  // The same, but its thread and its files stay until the job is over, as with a stopped process.
  [[noreturn]] void freeze(int rank) {
    net_->kill(rank);
    while (left_ > 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    throw rank_ended();
  }
  /// `body(context, rank in the job)`.
  void run(std::function<void(skel::context&, int)> const& body) {
    std::vector<std::jthread> threads;
    threads.reserve(codes.size());
    left_ = net_->size();
    for (int r = 0; r < net_->size(); ++r) threads.emplace_back([&, r] { run_rank(r, body); });
  }
  void kill(int rank) { net_->kill(rank); }
  void cut_before(int rank) { net_->cut_before(rank); }
  [[nodiscard]] bool is_dead(int rank) const { return net_->is_dead(rank); }

 private:
  std::shared_ptr<hub::network> net_;
  bool restarts_, certain_;

 public:
  std::vector<int> codes;
  std::optional<std::uint64_t> remember{};
  int spares = 0;         // the last ranks
  double patience = 0.5;  // seconds; long where no rank is lost by its silence, since machines are busy
  unsigned compute_threads = 1;
  std::atomic<int> retired{0};   // ranks that have left before the end
  std::optional<int> watcher{};  // the only rank that notices ends, on another host

 private:
  std::atomic<int> left_{0};

  void run_rank(int r, std::function<void(skel::context&, int)> const& body) {
    // The ranks that have ended, once each. A rank that is dead itself must not wait for the others.
    auto const ended = [this, r](bool by_others) {
      return [this, r, by_others, known = std::set<int>()]() mutable {
        std::vector<int> news;
        for (int other = 0; other < net_->size(); ++other)
          if (other != r && ((by_others && net_->is_dead(other)) || net_->is_dead(r)) &&
              known.insert(other).second)
            news.push_back(other);
        return news;
      };
    };
    auto const wires = std::make_shared<skel::detail::job_wires>(
        std::make_unique<hub::transport>(net_, r), patience, restarts_,
        skel::detail::ended_processes(ended(certain_ && !watcher), ended(watcher == r)), spares);
    auto const make = [this, r](std::unique_ptr<skel::transport::transport> carrier) {
      skel::context_options options;
      options.threads = compute_threads;
      options.quiet = true;
      options.suspect_after_seconds = patience;
      options.again.remember_bytes = remember;
      return std::make_shared<skel::detail::engine>(std::move(carrier), options, "host" + std::to_string(r));
    };
    auto const end = skel::detail::run_attempts(wires, make, {}, [&](skel::context& ctx) {
      if (is_dead(r)) throw rank_ended();
      return body(ctx, r), 0;
    });
    codes[static_cast<std::size_t>(r)] = end.code;
    if (end.retired) {
      ++retired;
      net_->kill(r);
    }
    --left_;
  }
};

}  // namespace attempts_test
