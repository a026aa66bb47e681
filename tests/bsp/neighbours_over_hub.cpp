// Programs that name neighbours, over several ranks in one process: results, checkpoints, losses, mistakes.
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>

#include "over_hub.hpp"

using namespace bsp_test;

namespace {

struct ended_parts {
  std::vector<std::uint64_t> whole;  // the parts of the ranks that end well, in the order of ranks
  skel::report run;
  std::vector<std::string> errors;
};

ended_parts run_parts(hub::job& job, int ranks, neighbour_circle const& program,
                      skel::bsp_options const& options) {
  ended_parts e;
  std::mutex lock;
  std::map<int, std::vector<std::uint64_t>> parts;
  job.run([&](skel::context& ctx) {
    auto r = skel::bsp(ctx, program, options);
    std::scoped_lock const one(lock);
    parts[ctx.rank()] = r.value.whole;
    if (ctx.is_root()) e.run = r.report;
  });
  for (auto const& [rank, part] : parts) e.whole.insert(e.whole.end(), part.begin(), part.end());
  for (int r = 0; r < ranks; ++r) e.errors.push_back(job.error(r));
  return e;
}

ended_parts run_parts(int ranks, skel::bsp_options const& options, neighbour_circle const& program = {}) {
  hub::job job(ranks, 1);
  return run_parts(job, ranks, program, options);
}

}  // namespace

TEST_CASE("ranks that wait for their neighbours give a sequential program's result") {
  for (int ranks : {1, 2, 3, 5, 8, 40}) {  // more ranks than cells: some have no neighbours
    INFO(ranks);
    auto const e = run_parts(ranks, {});
    for (auto const& text : e.errors) CHECK(text.empty());
    CHECK(e.whole == expected());
    CHECK(e.run.tasks == rounds + 1);
  }
}

TEST_CASE("checkpoints of neighbours are resumed on the same or another number of ranks") {
  for (auto const& [before, after] : {std::pair{3, 3}, {3, 2}, {2, 5}, {1, 3}, {4, 1}}) {
    INFO(before << " ranks, then " << after);
    store const where;
    run_until(before, neighbour_circle{}, where, 20);
    std::atomic<std::uint64_t> least{rounds};
    neighbour_circle later;
    later.event = [&](int, std::uint64_t n) {
      for (auto seen = least.load(); n < seen && !least.compare_exchange_weak(seen, n);) {
      }
    };
    auto const e = run_parts(after, where.options(true), later);
    for (auto const& text : e.errors) CHECK(text.empty());
    CHECK(e.whole == expected());
    CHECK(least > 0);
  }
}

TEST_CASE("neighbours survive the loss of a rank, with and without a checkpoint") {
  for (bool const saves : {false, true})
    for (int victim : {1, 3}) {
      INFO(victim << (saves ? ", with checkpoints" : ""));
      store const where;
      hub::job job(4, 1);
      std::atomic<std::uint64_t> newest{0};
      std::atomic<bool> dead{false};
      neighbour_circle p;
      p.event = [&](int, std::uint64_t n) {
        if (n == 20 && saves) where.wait_for_checkpoint();
        if (n >= 15 && !dead) std::this_thread::sleep_for(20ms);
        newest = std::max(newest.load(), n);
      };
      std::thread killer([&] {
        while (newest < 20) std::this_thread::sleep_for(1ms);
        dead = true;
        job.kill(victim);
      });
      auto const e = run_parts(job, 4, p, saves ? where.options(false) : skel::bsp_options{});
      killer.join();
      CHECK(e.errors[0].empty());
      CHECK(e.whole == expected());
      CHECK(e.run.lost_ranks == std::vector<int>{victim});
    }
}

namespace {

// Rank 0 ends early, so it must learn from the root that distant ranks continue.
struct uneven {
  using state = std::uint64_t;  // the supersteps that this rank has computed
  using message = int;
  [[nodiscard]] state begin(int, int) const { return 0; }
  [[nodiscard]] std::vector<int> neighbours(int rank, int size) const {
    std::vector<int> all;
    if (rank > 0) all.push_back(rank - 1);
    if (rank + 1 < size) all.push_back(rank + 1);
    return all;
  }
  bool step(state& s, skel::superstep<message>& now) const {
    ++s;
    return now.number() < 10 * static_cast<std::uint64_t>(now.rank());
  }
};

}  // namespace

TEST_CASE("ranks compute as many supersteps as any rank wants, however distant") {
  for (int const ranks : {1, 2, 3, 6}) {
    INFO(ranks);
    hub::job job(ranks, 1);
    std::mutex lock;
    std::multiset<std::uint64_t> computed;
    job.run([&](skel::context& ctx) {
      auto const n = skel::bsp(ctx, uneven{}).value;
      std::scoped_lock const one(lock);
      computed.insert(n);
    });
    auto const all = static_cast<std::size_t>(ranks);
    CHECK(computed.size() == all);
    CHECK(*computed.begin() == 10 * (all - 1) + 1);
    CHECK(*computed.rbegin() == 10 * (all - 1) + 1);
  }
}

namespace {

enum class mistake { none, not_mutual, out_of_range, sends_to_other, throws };

struct mistaken {
  using state = int;
  using message = int;
  mistake made = mistake::none;
  [[nodiscard]] state begin(int, int) const { return 0; }
  [[nodiscard]] std::vector<int> neighbours(int rank, int size) const {
    if (made == mistake::out_of_range && rank == 1) return {0, size};
    if (made == mistake::not_mutual && rank == 2) return {1, 0};
    if (made == mistake::throws && rank == 1) throw std::runtime_error("no graph");
    if (rank == 0) return {1};
    if (rank + 1 == size) return {rank - 1};
    return {rank - 1, rank + 1};
  }
  bool step(state&, skel::superstep<message>& now) const {
    if (made == mistake::sends_to_other && now.number() == 3 && now.rank() == 2) now.send(0, 1);
    if (now.number() < 10) now.send(now.rank(), 1);  // always allowed
    return now.number() < 10;
  }
};

std::string text_of(mistake made) {
  hub::job job(3, 1);
  job.run([&](skel::context& ctx) { skel::bsp(ctx, mistaken{made}); });
  CHECK(job.error(0) == job.error(1));
  CHECK(job.error(0) == job.error(2));
  return job.error(0);
}

}  // namespace

TEST_CASE("mistakes in neighbours are reported on all ranks") {
  CHECK(text_of(mistake::none).empty());
  CHECK(text_of(mistake::not_mutual) ==
        "task 1 failed on rank 0: neighbours must be mutual: rank 2 names rank 0, expected rank 0 to name "
        "rank 2");
  CHECK(text_of(mistake::out_of_range) ==
        "task 0 failed on rank 1: neighbours of rank 1: no rank 3, expected 0 to 2");
  CHECK(text_of(mistake::throws) == "task 0 failed on rank 1: no graph");
  CHECK(text_of(mistake::sends_to_other) ==
        "task 3 failed on rank 2: superstep::send: rank 0 is not among the neighbours of rank 2");
}
