// bsp over MPI: states after many supersteps, with and without neighbours and loops on several threads, on
// their ranks and gathered; exceptions, early ends, consecutive calls; reports of threads.
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "mpi/check.hpp"
#include "role/deal.hpp"
#include "skel/skel.hpp"

namespace {

using test::check;
using test::check_equal;
using test::contains;
using test::thrown_by;

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
  check(r.value == values(first, first + static_cast<std::ptrdiff_t>(mine.count)), "the cells of this rank");
  for (bool const everywhere : {false, true}) {
    auto const parts = everywhere ? skel::all_gather(ctx, r) : skel::gather(ctx, r);
    check_equal(parts.has_value(), everywhere || ctx.is_root(), "where the parts are");
    values gathered;
    for (auto const& part : parts.value_or(std::vector<values>{}))
      gathered.insert(gathered.end(), part.begin(), part.end());
    check(!parts || gathered == all, "the cells of all ranks");
  }
  if (ctx.is_root()) check_equal(r.report.tasks, rounds + 1, "supersteps");
}

void a_superstep_throws(skel::context& ctx) {
  auto const plain =
      thrown_by<skel::task_error>([&] { skel::bsp(ctx, circle{.throws_in = 7}); }, "a superstep");
  check_equal(plain.task(), 7U, "the superstep that threw");
  check(contains(plain.what(), "no luck"), plain.what());
  auto const lowest = thrown_by<skel::task_error>(
      [&] { skel::bsp(ctx, neighbour_circle{{.throws_in = 9, .in_loop = true}}); }, "a loop");
  check(std::string(lowest.what()).ends_with("no luck at 3"), lowest.what());
  states_are_right<circle>(ctx);
}

void it_ends_early(skel::context& ctx) {
  struct endless : circle {
    bool step(state& s, skel::superstep<message>& now) const {
      now.send((now.rank() + 1) % now.size(), s.back());
      return true;
    }
  };
  skel::bsp_options options;
  options.time_limit_seconds = 0.05;
  auto const r = skel::bsp(ctx, endless{}, options);
  check(r.report.stopped_early, "stopped by the time limit");
  states_are_right<neighbour_circle>(ctx);
}

struct sleeping {
  using state = int;
  using message = int;
  [[nodiscard]] state begin(int, int) const { return 0; }
  bool step(state&, skel::superstep<message>& now) const {
    now.parallel_for(24, [](std::uint64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
    return false;
  }
};

void threads_are_reported(skel::context& ctx) {
  auto const r = skel::bsp(ctx, sleeping{}).report;
  check_equal(r.threads_per_rank, ctx.threads(), "threads per rank");
  for (auto const& row : r.per_rank) {
    check_equal(row.threads, ctx.threads(), "threads of a rank");
    check(row.busy_seconds >= 24 * 0.002, "the seconds of all threads count");
    check(row.busy_seconds + row.idle_seconds + row.communication_seconds <= row.threads * (r.seconds + 0.05),
          "no second counts twice");
  }
}

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (argc > 1) ctx.set_threads(std::stoi(argv[1]));
    states_are_right<circle>(ctx);
    states_are_right<neighbour_circle>(ctx);
    a_superstep_throws(ctx);
    it_ends_early(ctx);
    threads_are_reported(ctx);
  });
}
