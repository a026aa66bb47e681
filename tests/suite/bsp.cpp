// bsp: states after many supersteps, with and without neighbours and loops on several threads, on their ranks
// and gathered; exceptions, early ends, consecutive calls; reports of threads.
#include "skel/bsp.hpp"

#include "protocol/deal.hpp"
#include "skel/gather.hpp"
#include "suite.hpp"

namespace suite::supersteps {

using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t cells = 3000, rounds = 60;
using values = std::vector<std::uint64_t>;

std::uint64_t mixed(std::uint64_t own, std::uint64_t left) {
  return (own ^ (left << 7)) * 0x9e3779b97f4a7c15U + (left >> 3);
}

// Mixes each cell of a circle with its left neighbour. Each rank has a contiguous part.
struct circle {
  using state = values;
  using message = std::uint64_t;
  std::int64_t throws_in = -1;  // this superstep, on the last rank
  bool in_loop = false;         // within its loop

  [[nodiscard]] state begin(int rank, int size) const {
    auto const mine = skel::contiguous_share(cells, size, rank);
    state s;
    for (std::uint64_t i = 0; i < mine.count; ++i) s.push_back(mine[i] + 1);
    return s;
  }
  bool step(state& s, skel::superstep<message>& now) const {
    bool const throws = static_cast<std::int64_t>(now.number()) == throws_in && now.rank() == now.size() - 1;
    if (throws && !in_loop) throw std::runtime_error("no luck");
    if (now.number() > 0) {
      auto const before = s;
      auto const left = now.received().at(0).content;
      now.parallel_for(s.size(), [&](std::uint64_t i) {
        if (throws && i % 7 == 3) throw std::runtime_error("no luck at " + std::to_string(i));
        s[i] = mixed(before[i], i == 0 ? left : before[i - 1]);
      });
    }
    if (now.number() == rounds) return false;
    now.send((now.rank() + 1) % now.size(), s.back());
    return true;
  }
};

struct neighbour_circle : circle {
  [[nodiscard]] std::vector<int> neighbours(int rank, int size) const {
    return {(rank + size - 1) % size, (rank + 1) % size};
  }
};

struct endless_circle : circle {
  bool step(state& s, skel::superstep<message>& now) const {
    spend(100us);
    now.send((now.rank() + 1) % now.size(), s.back());
    return true;
  }
};

values expected() {
  values now;
  for (std::uint64_t i = 0; i < cells; ++i) now.push_back(i + 1);
  for (std::uint64_t r = 0; r < rounds; ++r) {
    auto const old = now;
    for (std::uint64_t i = 0; i < cells; ++i) now[i] = mixed(old[i], old[(i + cells - 1) % cells]);
  }
  return now;
}

template <class P>
void states_are_right(skel::context& ctx) {
  static auto const all = expected();
  auto const r = skel::bsp(ctx, P{});
  auto const mine = skel::contiguous_share(cells, ctx.size(), ctx.rank());
  auto const first = all.begin() + static_cast<std::ptrdiff_t>(mine.first);
  CHECK((r.value == values(first, first + static_cast<std::ptrdiff_t>(mine.count))));
  for (bool const everywhere : {false, true}) {
    auto const parts = everywhere ? skel::all_gather(ctx, r) : skel::gather(ctx, r);
    CHECK(parts.has_value() == (everywhere || ctx.is_root()));
    values together;
    for (auto const& part : parts.value_or(std::vector<values>{}))
      together.insert(together.end(), part.begin(), part.end());
    CHECK((!parts || together == all));
  }
  if (ctx.is_root()) CHECK(r.report.tasks == rounds + 1);
}

}  // namespace

TEST_CASE("supersteps give a sequential program's result", "[bsp]") {
  on_ranks([](skel::context& ctx) {
    states_are_right<circle>(ctx);
    states_are_right<neighbour_circle>(ctx);
  });
}

TEST_CASE("an exception in a superstep, or in its loop, ends the call on all ranks", "[bsp]") {
  on_ranks([](skel::context& ctx) {
    auto const plain = thrown_by<skel::task_error>(ctx, [&] { skel::bsp(ctx, circle{.throws_in = 7}); });
    CHECK(plain.task() == 7);
    CHECK(contains(plain.what(), "no luck"));
    auto const lowest = thrown_by<skel::task_error>(
        ctx, [&] { skel::bsp(ctx, neighbour_circle{{.throws_in = 9, .in_loop = true}}); });
    CHECK(lowest.text() == "no luck at 3");
    states_are_right<circle>(ctx);
  });
}

TEST_CASE("a time limit ends endless supersteps", "[bsp]") {
  on_ranks([](skel::context& ctx) {
    skel::bsp_options options;
    options.time_limit_seconds = 0.05;
    CHECK(skel::bsp(ctx, endless_circle{}, options).report.stopped_early);
    states_are_right<neighbour_circle>(ctx);
  });
}

namespace {

struct sleeping {
  using state = int;
  using message = int;
  [[nodiscard]] state begin(int, int) const { return 0; }
  bool step(state&, skel::superstep<message>& now) const {
    now.parallel_for(24, [](std::uint64_t) { spend(2ms); });
    return false;
  }
};

}  // namespace

TEST_CASE("the report counts the seconds of all threads, and none twice", "[bsp]") {
  on_ranks([](skel::context& ctx) {
    auto const r = skel::bsp(ctx, sleeping{}).report;
    CHECK(r.threads_per_rank == ctx.threads());
    for (auto const& row : r.per_rank) {
      CHECK(row.threads == ctx.threads());
      CHECK(row.busy_seconds >= 24 * 0.002);
      CHECK(row.busy_seconds + row.idle_seconds + row.communication_seconds <=
            row.threads * (r.seconds + 0.05));
    }
  });
}

}  // namespace suite::supersteps
