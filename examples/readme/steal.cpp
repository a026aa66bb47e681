#include <algorithm>
#include <cstdio>
#include <skel/skel.hpp>
#include <vector>

struct partitions {  // of a number into parts, the largest first: a task is what is left, and the largest
                     // part allowed
  struct task {
    int left, largest;
  };
  using result = std::uint64_t;
  void run(task const& t, skel::spawner<task>& more, result& count) const {
    if (t.left == 0) ++count;
    for (int part = std::min(t.left, t.largest); part > 0; --part) more({t.left - part, part});
  }
  result merge(result a, result b) const { return a + b; }
};

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    auto const open = [] { return std::vector{partitions::task{50, 50}}; };  // on the root
    auto const [count, report] = skel::ring_steal(ctx, skel::on_root(open), partitions{});
    if (ctx.is_root())
      std::printf("%llu partitions on %d ranks\n", static_cast<unsigned long long>(count), report.ranks);
  });
}
