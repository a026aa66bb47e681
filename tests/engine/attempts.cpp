// The root dies, and the others run the body again.
#include "engine/attempts.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "engine/context_access.hpp"
#include "skel/skel.hpp"
#include "transport/hub_transport.hpp"

namespace {

struct rank_ended : std::runtime_error {
  rank_ended() : std::runtime_error("this rank is dead") {}
};

// A job whose ranks are threads. The end of one is certain at once for the others.
class job {
 public:
  explicit job(int ranks, bool restarts = true, bool certain = true)
      : net_(std::make_shared<hub::network>(ranks)),
        restarts_(restarts),
        certain_(certain),
        codes(static_cast<std::size_t>(ranks)),
        numbers_(static_cast<std::size_t>(ranks)) {}

  // Ends the calling rank, whose number in the job is `rank`.
  [[noreturn]] void end(int rank) {
    net_->kill(rank);
    throw rank_ended();
  }
  /// `body(context, rank in the job)`.
  void run(std::function<void(skel::context&, int)> const& body) {
    std::vector<std::jthread> threads;
    for (int r = 0; r < net_->size(); ++r) threads.emplace_back([&, r] { run_rank(r, body); });
  }
  [[nodiscard]] bool is_dead(int rank) const { return net_->is_dead(rank); }

 private:
  std::shared_ptr<hub::network> net_;
  bool restarts_, certain_;

 public:
  std::vector<int> codes;

 private:
  std::vector<int> numbers_;

  void run_rank(int r, std::function<void(skel::context&, int)> const& body) {
    auto const ended = [this, r, known = std::set<int>()]() mutable {
      std::vector<int> news;
      for (int other = 0; certain_ && other < net_->size(); ++other)
        if (other != r && (net_->is_dead(other) || net_->is_dead(r)) && known.insert(other).second)
          news.push_back(other);
      return news;
    };
    static constexpr double patience = 0.5;
    auto const wires = std::make_shared<skel::detail::job_wires>(std::make_unique<hub::transport>(net_, r),
                                                                 patience, restarts_, ended);
    auto const make = [r](std::unique_ptr<skel::transport::transport> carrier) {
      skel::context_options options;
      options.threads = 1;
      options.quiet = true;
      options.suspect_after_seconds = patience;
      return std::make_shared<skel::detail::engine>(std::move(carrier), options, "host" + std::to_string(r));
    };
    codes[static_cast<std::size_t>(r)] = skel::detail::run_attempts(wires, make, {}, [&](skel::context& ctx) {
                                           if (is_dead(r)) throw rank_ended();
                                           return body(ctx, r), 0;
                                         }).code;
  }
};

constexpr std::uint64_t tasks = 400;
std::uint64_t work(std::uint64_t i) {
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  return (i + 1) * 0x9e3779b97f4a7c15U;
}
std::uint64_t right_sum() {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < tasks; ++i) sum += (i + 1) * 0x9e3779b97f4a7c15U;
  return sum;
}

// What the root of the last attempt has.
struct outcome {
  std::mutex mutex;
  int attempt = 0, size = 0, root = -1;
  std::uint64_t sum = 0;
  skel::report report;
  void set(skel::context const& ctx, int rank, std::uint64_t s, skel::report const& r) {
    std::lock_guard const lock(mutex);
    attempt = ctx.attempt();
    size = ctx.size();
    root = rank;
    sum = s;
    report = r;
  }
};

}  // namespace

TEST_CASE("the root of a farm dies: the others run the body again, and have every result") {
  for (int const ranks : {2, 3, 5})
    for (std::uint64_t const at : {1U, 200U, 399U}) {
      CAPTURE(ranks, at);
      job j(ranks);
      outcome last;
      j.run([&](skel::context& ctx, int rank) {
        std::uint64_t sum = 0, heard = 0;
        auto const attempt = ctx.attempt();
        auto const [report] = skel::farm(ctx, skel::indices(tasks), work, skel::schedule::adaptive{},
                                         [&](skel::task_id, std::uint64_t x) {
                                           sum += x;
                                           if (++heard == at && attempt == 1) j.end(rank);
                                         });
        if (ctx.is_root()) last.set(ctx, rank, sum, report);
      });
      CHECK(last.attempt == 2);
      CHECK(last.size == ranks - 1);
      CHECK(last.root == 1);
      CHECK(last.sum == right_sum());
      CHECK(last.report.attempt == 2);
      CHECK(last.report.lost_ranks.empty());
      REQUIRE(last.report.losses.size() == 1);
      auto const& loss = last.report.losses[0];
      CHECK(loss.rank == 0);
      CHECK(loss.attempt == 1);
      CHECK(loss.was_root);
      CHECK(loss.noticed == skel::loss_notice::ended);
      CHECK(loss.silent_seconds < 5);
      for (int r = 1; r < ranks; ++r) CHECK(j.codes[static_cast<std::size_t>(r)] == 0);
    }
}
