// Bulk synchronous programs over several ranks in one process: messages, losses, other numbers of ranks.
#include "over_hub.hpp"

#include <atomic>
#include <stdexcept>
#include <stop_token>

#include "../../examples/matmul/product.hpp"

using namespace bsp_test;

TEST_CASE("supersteps give what a sequential program gives, on any number of ranks") {
  for (int ranks : {1, 2, 3, 5, 8}) {
    INFO(ranks);
    auto const e = run(ranks, circle{}, {});
    for (auto const& text : e.errors) CHECK(text.empty());
    CHECK(e.whole == expected());
    CHECK(e.run.tasks == rounds + 2);
  }
}

TEST_CASE("a run goes on from its last checkpoint, on as many ranks or on others") {
  for (auto const& [before, after] : {std::pair{3, 3}, {3, 2}, {2, 5}, {1, 3}, {4, 1}}) {
    INFO(before << " ranks, then " << after);
    store const where;
    run_until(before, splitting_circle{}, where, 20);
    std::atomic<std::uint64_t> least{rounds};
    splitting_circle later;
    later.event = [&](int, std::uint64_t n) {
      for (auto seen = least.load(); n < seen && !least.compare_exchange_weak(seen, n);) {
      }
    };
    auto const e = run(after, later, where.options(true));
    for (auto const& text : e.errors) CHECK(text.empty());
    CHECK(e.whole == expected());
    CHECK(least > 0);  // not from the beginning
    REQUIRE(e.run.checkpoint);
    CHECK(e.run.checkpoint->restored_tasks == least);
    CHECK(e.run.tasks == rounds + 2);
  }
}

namespace {

// One of four ranks is lost after there was a checkpoint.
void check_goes_on_without(int victim, store const& where) {
  hub::job job(4, 1);
  std::atomic<std::uint64_t> newest{0};
  std::atomic<bool> dead{false};
  std::atomic<std::uint64_t> least_after{rounds + 2};
  splitting_circle p;
  p.event = [&](int, std::uint64_t n) {
    if (n == 20) where.wait_for_checkpoint();
    if (n >= 20 && !dead) std::this_thread::sleep_for(20ms);
    if (dead)
      for (auto seen = least_after.load(); n < seen && !least_after.compare_exchange_weak(seen, n);) {
      }
    newest = std::max(newest.load(), n);
  };
  std::thread killer([&] {
    while (newest < 20) std::this_thread::sleep_for(1ms);
    dead = true;
    job.kill(victim);
  });
  auto const e = run(job, 4, p, where.options(false));
  killer.join();
  CHECK(e.errors[0].empty());
  CHECK(e.whole == expected());
  CHECK(e.run.lost_ranks == std::vector<int>{victim});
  CHECK(least_after > 0);  // not from the beginning
  REQUIRE(e.run.checkpoint);
  CHECK(e.run.checkpoint->restored_tasks == 0);  // its own checkpoints are no earlier run's
}

}  // namespace

TEST_CASE("the ranks that are left go on from the checkpoint when one is lost") {
  for (int victim : {1, 2, 3}) {
    INFO(victim);
    check_goes_on_without(victim, store());
  }
}

TEST_CASE("a rank is lost together with its disk") {
  for (int victim : {1, 3}) {
    INFO(victim);
    check_goes_on_without(victim, store(4));
  }
}

TEST_CASE("without a checkpoint they begin again") {
  hub::job job(3, 1);
  std::atomic<std::uint64_t> newest{0};
  circle p;
  p.event = [&](int, std::uint64_t n) {
    std::this_thread::sleep_for(2ms);
    newest = std::max(newest.load(), n);
  };
  std::thread killer([&] {
    while (newest < 15) std::this_thread::sleep_for(1ms);
    job.kill(2);
  });
  auto const e = run(job, 3, p, {});
  killer.join();
  CHECK(e.errors[0].empty());
  CHECK(e.whole == expected());
}

TEST_CASE("a state that nobody can split is lost with a rank") {
  store const where;
  hub::job job(3, 1);
  std::atomic<std::uint64_t> newest{0};
  circle p;
  p.event = [&](int, std::uint64_t n) {
    if (n == 20) where.wait_for_checkpoint();
    if (n >= 20) std::this_thread::sleep_for(20ms);
    newest = std::max(newest.load(), n);
  };
  std::thread killer([&] {
    while (newest < 20) std::this_thread::sleep_for(1ms);
    job.kill(1);
  });
  auto const e = run(job, 3, p, where.options(false));
  killer.join();
  CHECK(e.errors[0] == "lost rank 1, and with it what no other rank had");
}

TEST_CASE("what a superstep throws ends the run on all ranks") {
  circle p;
  p.event = [](int rank, std::uint64_t n) {
    if (rank == 1 && n == 7) throw std::runtime_error("seven");
  };
  auto const e = run(3, p, {});
  for (auto const& text : e.errors) CHECK(text.find("seven") != std::string::npos);
}

namespace {

// The same state and messages, slower, and stopped when there are checkpoints.
struct slow_product {
  using state = matmul::block_product::state;
  using message = matmul::block_product::message;
  matmul::block_product product;
  std::stop_source* stop;
  store const* where;
  [[nodiscard]] state begin(int rank, int ranks) const { return product.begin(rank, ranks); }
  bool step(state& s, skel::superstep<message>& now) const {
    if (now.number() >= 20 && where->wait_for_checkpoint()) {
      stop->request_stop();
      std::this_thread::sleep_for(300ms);
    }
    return product.step(s, now);
  }
};

}  // namespace

TEST_CASE("the product of two matrices goes on on other numbers of ranks, to the bit") {
  matmul::sizes const size{.order = 75, .width = 2};
  matmul::block_product const product{size};
  for (int after : {1, 2, 3, 4}) {
    INFO(after);
    store const where;
    auto options = where.options(false);
    std::stop_source stop;
    options.stop = stop.get_token();
    hub::job first(3, 1);
    first.run([&](skel::context& ctx) { skel::bsp(ctx, slow_product{product, &stop, &where}, options); });
    for (int r = 0; r < 3; ++r) CHECK(first.error(r).empty());
    std::vector<double> whole;
    hub::job second(after, 1);
    second.run([&](skel::context& ctx) {
      auto const r = skel::bsp(ctx, product, where.options(true));
      if (!ctx.is_root()) return;
      whole = r.value.whole;
      REQUIRE(r.report.checkpoint);
      CHECK(r.report.checkpoint->restored_generation > 0);
    });
    for (int r = 0; r < after; ++r) CHECK(second.error(r).empty());
    REQUIRE(whole.size() == size.order * size.order);
    CHECK(matmul::first_wrong_row(size, whole, 1) == size.order);
  }
}
