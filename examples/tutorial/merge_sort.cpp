// Sorts numbers by divide and conquer: the ranks halve the list, sort their parts and merge them.
//     mpiexec -n 4 merge_sort
#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <random>
#include <skel/skel.hpp>
#include <vector>

struct merge_sort {
  using problem = std::vector<unsigned>;
  using solution = std::vector<unsigned>;
  bool trivial(problem const& p) const { return p.size() <= 1000; }
  solution conquer(problem p) const {
    std::sort(p.begin(), p.end());
    return p;
  }
  std::array<problem, 2> divide(problem const& p) const {
    auto const middle = p.begin() + static_cast<std::ptrdiff_t>(p.size() / 2);
    return {problem(p.begin(), middle), problem(middle, p.end())};
  }
  solution combine(solution const& a, solution const& b) const {
    solution all;
    std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
  }
};

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    auto const open = [] {  // on the root
      std::vector<unsigned> numbers(100'000);
      std::generate(numbers.begin(), numbers.end(), std::mt19937(1));
      return numbers;
    };
    auto const sorted =
        skel::divide_and_conquer(ctx, skel::on_root(open), merge_sort{}, skel::division::hypercube{});
    if (!ctx.is_root()) return;
    auto const& all = *sorted.value;
    for (std::size_t i = 0; i < all.size(); i += 9999) std::printf("%6zu: %10u\n", i, all[i]);
  });
}
