// Runs divide_and_conquer twice with ranks that kill themselves: divide_losses WHEN KIND SOURCE SEED. The
// root prints the lost ranks and whether the solution is right, after each call; the second call starts
// without the lost ranks. If WHEN is "poison", SEED names a function that kills any rank that runs it on a
// certain part of the problem. Started by losses_test.cpp.
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include "mpi/deaths.hpp"
#include "skel/skel.hpp"

namespace {

using namespace std::chrono_literals;

// 64 leaves of 15 milliseconds; the solution is the text of the combination tree.
struct tree_text {
  using problem = std::pair<int, int>;
  using solution = std::string;
  static constexpr std::pair<int, int> all{0, 64};
  std::string dies_in{};  // the function that kills this rank
  std::string poison{};   // the function that kills every rank that runs it on `part`
  std::pair<int, int> part{};

  bool trivial(problem const& p) const { return p.second - p.first == 1; }
  solution conquer(problem const& p) const {
    std::this_thread::sleep_for(15ms);
    if (dies_in == "conquer") test::die();
    if (poison == "conquer" && p == part) test::crash();
    return std::to_string(p.first);
  }
  std::array<problem, 2> divide(problem const& p) const {
    if (dies_in == "divide") test::die();
    if (poison == "divide" && p == part) test::crash();
    int const middle = (p.first + p.second) / 2;
    return {problem{p.first, middle}, problem{middle, p.second}};
  }
  solution combine(solution const& a, solution const& b) const {
    if (dies_in == "combine") test::die();
    if (poison == "combine" && a + b == text_of_part()) test::crash();
    return "(" + a + " " + b + ")";
  }
  [[nodiscard]] std::string text_of_part() const;
};

std::string expected(std::pair<int, int> p) {
  if (p.second - p.first == 1) return std::to_string(p.first);
  int const middle = (p.first + p.second) / 2;
  return "(" + expected({p.first, middle}) + " " + expected({middle, p.second}) + ")";
}

std::string tree_text::text_of_part() const {
  int const middle = (part.first + part.second) / 2;
  return expected({part.first, middle}) + expected({middle, part.second});
}

skel::result<skel::placed_solution<std::string>> solve(skel::context& ctx, tree_text const& job,
                                                       std::string const& kind, std::string const& source,
                                                       bool all_die = false) {
  skel::any_division const division(kind);
  skel::divide_and_conquer_options options;
  if (all_die) options.max_losses_per_task = 0;  // one rank after another may die at the same work
  if (source == "root")
    return skel::divide_and_conquer(ctx, skel::on_root([] { return tree_text::all; }), job, division,
                                    options);
  if (source == "own")
    return skel::divide_and_conquer(ctx, skel::own_part{std::pair{ctx.rank(), ctx.rank() + 1}}, job, division,
                                    options);
  return skel::divide_and_conquer(ctx, skel::replicated_problem{tree_text::all}, job, division, options);
}

// If a lost rank makes the call throw, each survivor prints how long that took: "rank 0 lost rank 2 after
// 0.7 s".
skel::result<skel::placed_solution<std::string>> solve_or_tell(skel::context& ctx, tree_text const& job,
                                                               std::string const& kind,
                                                               std::string const& source, bool all_die) {
  auto const begin = std::chrono::steady_clock::now();
  try {
    return solve(ctx, job, kind, source, all_die);
  } catch (skel::lost_rank_error const& lost) {
    std::chrono::duration<double> const time = std::chrono::steady_clock::now() - begin;
    std::printf("rank %d lost rank %d after %.3f s\n", ctx.rank(), lost.rank(), time.count());
    std::fflush(stdout);
    throw;
  }
}

// The survivors catch the error; the next call must work.
int main_with_poison(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    tree_text deadly;
    deadly.poison = argv[4];
    deadly.part = deadly.poison == "conquer" ? std::pair(40, 41) : std::pair(32, 64);
    try {
      solve(ctx, deadly, argv[2], argv[3]);
      std::printf("no error\n");
    } catch (skel::task_error const& e) {
      std::printf("%s\n", e.what());
    }
    std::fflush(stdout);
    auto const s = solve(ctx, tree_text{}, argv[2], argv[3]);
    if (ctx.is_root()) test::say_losses(*s.value == expected(tree_text::all), s.report);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  if (std::string(argv[1]) == "poison") return main_with_poison(argc, argv);
  auto const body = [&](skel::context& ctx) {
    test::plan_of_deaths const p{argv[1], std::strtoull(argv[4], nullptr, 10), ctx.size(), 240ms,
                                 ctx.attempt()};
    tree_text first;
    if (ctx.rank() == p.victim()) first.dies_in = p.when;
    if (auto const time = p.lifetime(ctx.rank())) test::die_in(*time);
    for (auto const& job : {first, tree_text{}}) {
      auto const s = solve_or_tell(ctx, job, argv[2], argv[3], p.when == "all");
      if (ctx.is_root()) test::say_losses(*s.value == expected(tree_text::all), s.report);
    }
  };
  return skel::run_main(argc, argv, skel::restartable(body));
}
