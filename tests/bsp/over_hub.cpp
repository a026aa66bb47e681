// Bulk synchronous programs over several ranks in one process: messages, losses, changing numbers of ranks.
#include "over_hub.hpp"

#include <atomic>
#include <stop_token>

#include "../../examples/matmul/product.hpp"

using namespace bsp_test;

TEST_CASE("a run may start on an empty store or resume") {
  for (bool const resumes : {false, true}) {
    store const where;
    if (resumes) run_until(2, splitting_circle{}, where, 20);
    auto options = where.options(false);
    options.checkpoint->resume = skel::checkpoint_options::resume_mode::if_there;
    auto const e = run(3, splitting_circle{}, options);
    for (auto const& text : e.errors) CHECK(text.empty());
    CHECK(e.whole == expected());
    REQUIRE(e.run.checkpoint);
    CHECK((e.run.checkpoint->restored_generation > 0) == resumes);
  }
}

TEST_CASE("a run resumes from its last checkpoint, on the same or another number of ranks") {
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
    CHECK(least > 0);  // does not start over
    REQUIRE(e.run.checkpoint);
    CHECK(e.run.checkpoint->restored_tasks == least);
    CHECK(e.run.tasks == rounds + 2);
  }
}

namespace {

// Only rank 0 does any work: it sums the superstep numbers.
struct counting {
  using state = std::uint64_t;
  using message = std::uint64_t;
  std::function<void(std::uint64_t number)> event = [](std::uint64_t) {};
  [[nodiscard]] state begin(int, int) const { return 0; }
  bool step(state& s, skel::superstep<message>& now) const {
    if (now.rank() == 0) event(now.number());
    s += now.rank() == 0 ? now.number() : 0;
    return now.number() < rounds;
  }
  [[nodiscard]] skel::bsp_part<counting> split(skel::bsp_parts<counting> const& parts, int rank, int) const {
    return rank == 0 ? parts[0] : skel::bsp_part<counting>{};
  }
};

}  // namespace

TEST_CASE("a rank whose split reads no part continues with the others") {
  store const where;
  auto options = where.options(false);
  std::stop_source stop;
  options.stop = stop.get_token();
  counting p;
  p.event = [&](std::uint64_t n) {
    if (n < 20 || !where.wait_for_checkpoint()) return;
    stop.request_stop();
    std::this_thread::sleep_for(300ms);
  };
  hub::job(2, 1).run([&](skel::context& ctx) { skel::bsp(ctx, p, options); });
  hub::job second(3, 1);
  std::uint64_t sum = 0, restored = 0;
  second.run_well([&](skel::context& ctx) {
    auto const r = skel::bsp(ctx, counting{}, where.options(true));
    if (!ctx.is_root()) return;
    sum = r.value;
    restored = r.report.checkpoint->restored_tasks;
  });
  CHECK(sum == rounds * (rounds + 1) / 2);
  CHECK(restored > 0);
}

namespace {

// Checks that a run survives the loss of one of four ranks after a checkpoint.
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
  CHECK(least_after > 0);  // does not start over
  REQUIRE(e.run.checkpoint);
  CHECK(e.run.checkpoint->restored_tasks == 0);  // counts only tasks from an earlier run's checkpoint
}

}  // namespace

TEST_CASE("the survivors of a loss continue from the checkpoint") {
  for (int victim : {1, 2, 3}) {
    INFO(victim);
    check_goes_on_without(victim, store());
  }
}

TEST_CASE("the survivors continue when a rank is lost with its disk") {
  for (int victim : {1, 3}) {
    INFO(victim);
    check_goes_on_without(victim, store(4));
  }
}

TEST_CASE("without a checkpoint the survivors start over") {
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

TEST_CASE("the loss of a rank ends the run if the state cannot be split") {
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
  CHECK(e.errors[0] == "lost rank 1, which held data that no other rank has");
}

namespace {

// The rank with the last cells dies in superstep 12, or in begin() if `at_begin` is set.
struct deadly_circle : splitting_circle {
  hub::job* job = nullptr;
  bool at_begin = false;
  [[nodiscard]] state begin(int rank, int size) const {
    if (at_begin) die(rank, size);
    return circle::begin(rank, size);
  }
  bool step(state& s, skel::superstep<message>& now) const {
    if (!at_begin && now.number() == 12) die(now.rank(), now.size());
    return circle::step(s, now);
  }
  [[nodiscard]] skel::bsp_part<deadly_circle> split(skel::bsp_parts<deadly_circle> const& parts, int rank,
                                                    int size) const {
    return cut(parts, rank, size);
  }
  // Kills the last surviving rank. Its place equals its rank, because only higher ranks have died.
  void die(int rank, int size) const {
    if (rank == 0 || rank + 1 != size) return;
    std::this_thread::sleep_for(200ms);  // the hub drops what the others have not received yet
    job->kill(rank);
  }
};

}  // namespace

TEST_CASE("a deadly superstep is named on all surviving ranks") {
  for (bool const at_begin : {false, true})
    for (bool const saves : {false, true}) {
      INFO((at_begin ? "begin" : "step") << (saves ? ", with checkpoints" : ""));
      store const where;
      hub::job job(6, 1);
      deadly_circle p;
      p.job = &job;
      p.at_begin = at_begin;
      auto const e = run(job, 6, p, saves ? where.options(false) : skel::bsp_options{});
      for (int const r : {0, 1, 2}) {
        auto const& text = e.errors[static_cast<std::size_t>(r)];
        INFO(text);
        CHECK(text.starts_with(at_begin ? "task 0 failed on rank 3: superstep 0, or making the state for it, "
                                        : "task 12 failed on rank 3: superstep 12"));
        CHECK(text.ends_with(" was running on each of the lost ranks 5, 4, 3"));
        hub::check_thrown<skel::task_error>(job, r);
      }
    }
}

namespace {

// A matmul::block_product that requests a stop once a checkpoint is committed.
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

TEST_CASE("several rounds of a matrix product, with ranks that only store") {
  for (int const idle : {0, 1, 2, 5}) {
    INFO(idle);
    matmul::sizes const size{.order = 41, .width = 3, .rounds = 3, .idle = idle};
    std::vector<double> whole, idle_rows;
    hub::job job(3, 1);
    job.run_well([&](skel::context& ctx) {
      auto const r = skel::bsp(ctx, matmul::block_product{size}, {});
      if (ctx.is_root()) whole = r.value.whole;
      if (idle > 0 && ctx.rank() == 2) idle_rows = r.value.c;
    });
    REQUIRE(whole.size() == size.order * size.order);
    CHECK(matmul::first_wrong_row(size, whole, 1) == size.order);
    CHECK(idle_rows.empty());
  }
}

TEST_CASE("a matrix product resumes on other numbers of ranks, bit for bit") {
  matmul::sizes const size{.order = 75, .width = 2, .rounds = 2, .idle = 1};
  matmul::block_product const product{size};
  for (int after : {1, 2, 3, 4}) {
    INFO(after);
    store const where;
    auto options = where.options(false);
    std::stop_source stop;
    options.stop = stop.get_token();
    {
      hub::job first(3, 1);
      first.run_well([&](skel::context& ctx) {
        skel::bsp(ctx, slow_product{product, &stop, &where}, options);
      });
    }
    std::vector<double> whole;
    hub::job second(after, 1);
    second.run_well([&](skel::context& ctx) {
      auto const r = skel::bsp(ctx, product, where.options(true));
      if (!ctx.is_root()) return;
      whole = r.value.whole;
      REQUIRE(r.report.checkpoint);
      CHECK(r.report.checkpoint->restored_generation > 0);
    });
    REQUIRE(whole.size() == size.order * size.order);
    CHECK(matmul::first_wrong_row(size, whole, 1) == size.order);
  }
}
