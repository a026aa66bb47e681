// divide_and_conquer over MPI: every kind, source and number of ranks gives the same solution; large
// messages.
#include <algorithm>
#include <cstdint>
#include <random>

#include "divide/jobs.hpp"
#include "mpi/check.hpp"
#include "skel/skel.hpp"

namespace {

using namespace divide;
using test::check;

numbers random_numbers(std::size_t n) {
  std::mt19937_64 dice(7);
  numbers all(n);
  for (auto& x : all) x = static_cast<std::int64_t>(dice());
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (argc > 1) ctx.set_threads(std::atoi(argv[1]));
    for (std::size_t n : {0U, 1U, 3U, 300000U}) {
      auto const all = random_numbers(n);
      auto sorted = all;
      std::sort(sorted.begin(), sorted.end());
      auto const root = [&] { return all; };
      auto const cube =
          skel::divide_and_conquer(ctx, skel::on_root(root), merge_sort{}, skel::division::hypercube{});
      check(cube.value.here() && *cube.value == sorted, "hypercube");
      auto const tree =
          skel::divide_and_conquer(ctx, skel::on_root(root), merge_sort{}, skel::division::tree{});
      check(tree.value.here() == ctx.is_root() && (!tree.value.here() || *tree.value == sorted), "tree");
      auto const same = skel::divide_and_conquer(ctx, skel::replicated_problem{all}, merge_sort{},
                                                 skel::division::hypercube{});
      check(same.value.here() && *same.value == sorted, "replicated");
      auto const parts =
          skel::divide_and_conquer(ctx, skel::on_root(root), quicksort{}, skel::division::distributed{});
      std::size_t mine = 0;
      for (auto const& p : parts.value.parts) {
        check(std::is_sorted(p.begin(), p.end()), "distributed");
        check(p.empty() || std::includes(sorted.begin(), sorted.end(), p.begin(), p.end()), "parts");
        mine += p.size();
      }
      if (n > 10) check(mine > 0, "a rank without a part");
    }
    numbers const a{1, 2, 3, 4}, b{5, 6, 7, 8};
    auto const product = skel::divide_and_conquer(ctx, skel::on_root([&] {
                                                    return polynomial_product::problem{a, b};
                                                  }),
                                                  polynomial_product{}, skel::division::tree{});
    if (ctx.is_root()) check(*product.value == numbers{5, 16, 34, 60, 61, 52, 32}, "polynomials");
  });
}
