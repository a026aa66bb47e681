#include <cstdio>
#include <skel/skel.hpp>
#include <vector>

// How many steps the Collatz sequence of n takes to reach 1.
int steps(std::uint64_t n) {
  int count = 0;
  for (; n != 1; ++count) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return count;
}

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {  // once per rank; one process without mpiexec
    std::vector<int> found(100'000);
    auto const [report] = skel::farm(
        ctx, skel::indices(found.size()), [](std::uint64_t i) { return steps(i + 1); },  // runs anywhere
        [&](skel::task_id i, int count) { found[i] = count; });  // on the root, once per task
    if (ctx.is_root())
      std::printf("1 ... %zu on %d ranks: %d steps from 77031\n", found.size(), report.ranks, found[77030]);
  });
}
