// N queens, N from 4 to 12: by the search, by counting without tasks and by another method.
#include "catch.hpp"
#include "jobs.hpp"

namespace {

using namespace search;

std::uint64_t by_ring_steal(unsigned n) {
  skel::context_options options;
  options.threads = 2;
  skel::context ctx(options);
  auto const open = [] { return std::vector<placement>{placement{}}; };
  return skel::ring_steal(ctx, skel::on_root(open), queens_search{n}).value;
}

}  // namespace

TEST_CASE("queens have the published numbers of solutions") {
  std::vector<std::uint64_t> const known{2, 10, 4, 40, 92, 352, 724, 2680, 14200};  // OEIS A000170, from 4 on
  for (unsigned n = 4; n <= 12; ++n) {
    INFO(n << " queens");
    CHECK(count_queens({}, n) == known[n - 4]);
    CHECK(by_ring_steal(n) == known[n - 4]);
    if (n <= 10) CHECK(count_queens_slowly(n) == known[n - 4]);
  }
}
