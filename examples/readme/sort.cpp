#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <skel/skel.hpp>
#include <vector>

struct merge_sort {
  using problem = std::vector<int>;
  using solution = std::vector<int>;
  bool trivial(problem const& p) const { return p.size() <= 1; }
  solution conquer(problem const& p) const { return p; }
  std::array<problem, 2> divide(problem const& p) const {
    auto const middle = p.begin() + p.size() / 2;
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
    auto const open = [] { return std::vector<int>{3, 1, 4, 1, 5, 9, 2, 6}; };  // on the root
    auto const sorted =
        skel::divide_and_conquer(ctx, skel::on_root(open), merge_sort{}, skel::division::hypercube{});
    if (ctx.is_root())  // but every rank has them
      for (int const n : *sorted.value) std::printf("%d ", n);
  });
}
