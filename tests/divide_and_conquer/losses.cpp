// divide_and_conquer whose ranks kill themselves as they are told: divide_losses WHEN KIND SOURCE SEED. On
// the root it says who was lost and whether the solution is right, twice: the second call begins without
// them. divide_losses_test.cpp starts it.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "mpi/deaths.hpp"
#include "skel/skel.hpp"

namespace {

using namespace std::chrono_literals;

// 64 leaves of 15 milliseconds; the solution tells the tree.
struct tree_text {
  using problem = std::pair<int, int>;
  using solution = std::string;
  static constexpr std::pair<int, int> all{0, 64};
  std::string dies_in{};  // which function; on the rank that has it set

  bool trivial(problem const& p) const { return p.second - p.first == 1; }
  solution conquer(problem const& p) const {
    std::this_thread::sleep_for(15ms);
    if (dies_in == "conquer") test::die();
    return std::to_string(p.first);
  }
  std::array<problem, 2> divide(problem const& p) const {
    if (dies_in == "divide") test::die();
    int const middle = (p.first + p.second) / 2;
    return {problem{p.first, middle}, problem{middle, p.second}};
  }
  solution combine(solution const& a, solution const& b) const {
    if (dies_in == "combine") test::die();
    return "(" + a + " " + b + ")";
  }
};

std::string expected(std::pair<int, int> p) {
  if (p.second - p.first == 1) return std::to_string(p.first);
  int const middle = (p.first + p.second) / 2;
  return "(" + expected({p.first, middle}) + " " + expected({middle, p.second}) + ")";
}

skel::result<skel::placed_solution<std::string>> solve(skel::context& ctx, tree_text const& job,
                                                       std::string const& kind, std::string const& source) {
  skel::any_division const division(kind);
  if (source == "root")
    return skel::divide_and_conquer(ctx, skel::on_root([] { return tree_text::all; }), job, division);
  if (source == "own")
    return skel::divide_and_conquer(ctx, skel::own_part{std::pair{ctx.rank(), ctx.rank() + 1}}, job,
                                    division);
  return skel::divide_and_conquer(ctx, skel::replicated_problem{tree_text::all}, job, division);
}

// Where the call throws because a rank was lost, each survivor says how long after its beginning: "rank 0 was
// told of 2 after 0.7 s".
skel::result<skel::placed_solution<std::string>> solve_or_tell(skel::context& ctx, tree_text const& job,
                                                               std::string const& kind,
                                                               std::string const& source) {
  auto const begin = std::chrono::steady_clock::now();
  try {
    return solve(ctx, job, kind, source);
  } catch (skel::lost_rank_error const& lost) {
    std::chrono::duration<double> const time = std::chrono::steady_clock::now() - begin;
    std::printf("rank %d was told of %d after %.3f s\n", ctx.rank(), lost.rank(), time.count());
    std::fflush(stdout);
    throw;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    test::plan_of_deaths const p{argv[1], std::strtoull(argv[4], nullptr, 10), ctx.size(), 240ms};
    tree_text first;
    if (ctx.rank() == p.victim()) first.dies_in = p.when;
    if (auto const time = p.lifetime(ctx.rank())) test::die_in(*time);
    for (auto const& job : {first, tree_text{}}) {
      auto const s = solve_or_tell(ctx, job, argv[2], argv[3]);
      if (ctx.is_root()) test::say_losses(*s.value == expected(tree_text::all), s.report);
    }
  });
}
