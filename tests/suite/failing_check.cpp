// A failed check ends all ranks. Run only to see that it does.
#include "suite.hpp"

TEST_CASE("a check that fails on one rank", "[.][fails]") {
  suite::on_ranks([](skel::context& ctx) {
    int const bad = ctx.size() == 1 ? -1 : ctx.size() / 2;
    CHECK(ctx.rank() != bad);
    suite::usable(ctx);
  });
}
