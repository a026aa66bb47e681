// Runs a bsp call in which ranks kill themselves: losses WHERE AFTERWARDS [STORE]. WHERE is step, begin or
// split, where the rank with the last cell dies, or apart, where two ranks die in different supersteps.
// AFTERWARDS is escape, or next for a second call by the survivors. Or WHERE is gather, where a rank dies
// between a bsp and the gathering of its parts. Started by losses_test.cpp.
// Or: losses WHEN KIND STORE SEED, where ranks die at a moment that the seed chooses (plan_of_deaths), and
// the survivors make a second call. KIND is all or neighbours: with whom ranks exchange messages. STORE is
// none or as in saving.hpp.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "mpi/deaths.hpp"
#include "mpi/saving.hpp"
#include "protocol/deal.hpp"
#include "skel/skel.hpp"

namespace {

using namespace std::chrono_literals;
constexpr std::uint64_t cells = 60, rounds = 12, poison = 7;

using values = std::vector<std::uint64_t>;

// The cells of a rank, out of those of all parts.
template <class Parts>
values share_of(Parts const& parts, int rank, int size) {
  values all;
  for (int i = 0; i < parts.size(); ++i) {
    auto const p = parts[i];
    all.insert(all.end(), p.state.begin(), p.state.end());
  }
  auto const mine = skel::contiguous_share(cells, size, rank);
  auto const first = all.begin() + static_cast<std::ptrdiff_t>(mine.first);
  return {first, first + static_cast<std::ptrdiff_t>(mine.count)};
}

// Each superstep computes each cell from its old value; at the end the root receives all cells.
struct counting {
  using state = values;
  using message = values;
  std::string where;
  int ranks = 1;      // number of ranks before any loss
  std::string store;  // of `where` "split"

  [[nodiscard]] state begin(int rank, int size) const {
    last_cell_kills("begin", rank, size);
    auto const mine = skel::contiguous_share(cells, size, rank);
    state s;
    for (std::uint64_t i = 0; i < mine.count; ++i) s.push_back(mine[i]);
    return s;
  }
  bool step(state& s, skel::superstep<message>& now) const {
    std::this_thread::sleep_for(10ms);
    auto const n = now.number();
    if (n == poison) last_cell_kills("step", now.rank(), now.size());
    if (where == "apart" && now.rank() == now.size() - 1 && n == (now.size() == ranks ? 3 : 6) &&
        now.size() > ranks - 2)
      test::die();
    if (where == "split" && now.size() == ranks && now.rank() == now.size() - 1 && n == poison) {
      test::wait_for_results_in(store);
      test::die();
    }
    if (n > rounds) {
      s.clear();
      for (auto const& l : now.received()) s.insert(s.end(), l.content.begin(), l.content.end());
      return false;
    }
    now.parallel_for(s.size(), [&](std::uint64_t i) { s[i] = 3 * s[i] + n; });
    if (n == rounds) now.send(0, s);
    return true;
  }
  [[nodiscard]] skel::bsp_part<counting> split(skel::bsp_parts<counting> const& parts, int rank,
                                               int size) const {
    last_cell_kills("split", rank, size);
    return {share_of(parts, rank, size), {}};
  }

 private:
  void last_cell_kills(char const* here, int rank, int size) const {
    if (where == here && rank > 0 && rank == size - 1) test::crash();
  }
};

// The same, but a rank tells only the ranks beside it what its cells are, and keeps those that it has.
struct beside : counting {
  [[nodiscard]] std::vector<int> neighbours(int rank, int size) const {
    return {(rank + size - 1) % size, (rank + 1) % size};
  }
  bool step(state& s, skel::superstep<message>& now) const {
    std::this_thread::sleep_for(10ms);
    auto const n = now.number();
    if (n > rounds) return false;
    for (auto const& l : now.received())
      if (l.content.size() != s.size() && l.content.size() + 1 != s.size() &&
          l.content.size() != s.size() + 1)
        throw std::runtime_error("a message of other cells");
    now.parallel_for(s.size(), [&](std::uint64_t i) { s[i] = 3 * s[i] + n; });
    for (int const r : neighbours(now.rank(), now.size())) now.send(r, s);
    return true;
  }
  [[nodiscard]] skel::bsp_part<beside> split(skel::bsp_parts<beside> const& parts, int rank, int size) const {
    return {share_of(parts, rank, size), {}};
  }
};

values joined(std::vector<values> const& parts) {
  values all;
  for (auto const& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

values expected() {
  values all;
  for (std::uint64_t i = 0; i < cells; ++i) {
    all.push_back(i);
    for (std::uint64_t n = 0; n <= rounds; ++n) all.back() = 3 * all.back() + n;
  }
  return all;
}

template <class P>
void run_twice(skel::context& ctx, std::string const& store, test::plan_of_deaths const& p) {
  skel::bsp_options options;
  if (store != "none") options.checkpoint = test::saving_to(store, std::to_string(p.seed));
  if (p.when == "all") options.max_losses_per_task = 0;  // they may die in attempts at one superstep
  if (auto const life = p.lifetime(ctx.rank())) test::die_in(*life);
  auto const all = expected();
  for (bool const dying : {true, false}) {
    auto const r = skel::gather(ctx, P{}, dying ? options : skel::bsp_options{});
    if (ctx.is_root()) test::say_losses(r.value && joined(*r.value) == all, r.report);
  }
}

}  // namespace

int main(int argc, char** argv) {
  auto const at_random = [&](skel::context& ctx) {
    test::plan_of_deaths const p{argv[1], std::strtoull(argv[4], nullptr, 10), ctx.size(), 130ms,
                                 ctx.attempt()};
    if (std::string(argv[2]) == "neighbours")
      run_twice<beside>(ctx, argv[3], p);
    else
      run_twice<counting>(ctx, argv[3], p);
  };
  if (argc == 5) return skel::run_main(argc, argv, skel::restartable(at_random));
  if (argc != 3 && argc != 4) return 2;
  std::string const where = argv[1], afterwards = argv[2];
  if (where == "gather")
    return skel::run_main(argc, argv, [&](skel::context& ctx) {
      auto const r = skel::bsp(ctx, beside{});
      if (ctx.rank() == ctx.size() - 1) test::die();
      if (auto const parts = skel::gather(ctx, r)) test::say_losses(joined(*parts) == expected(), r.report);
    });
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    auto const run = [&](std::string const& deadly) {
      skel::bsp_options options;
      if (argc == 4) options.checkpoint = test::saving_to(argv[3], "only");
      auto const r = skel::bsp(ctx, counting{deadly, ctx.size(), argc == 4 ? argv[3] : ""}, options);
      if (ctx.is_root()) test::say_losses(r.value == expected(), r.report);
    };
    if (afterwards == "escape") return run(where);
    try {
      run(where);
    } catch (skel::task_error const& e) {
      std::printf("superstep %llu, rank %d\n", static_cast<unsigned long long>(e.task()), e.rank());
      std::fflush(stdout);
    }
    run("");
  });
}
