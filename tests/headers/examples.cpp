// The examples at the beginning of the skeletons' headers: they compile, and do what they say. On one rank.
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "header_examples.hpp"

TEST_CASE("the examples in the headers of the skeletons work") {
  skel::context ctx;
  auto const squares = farm_example::squares(ctx);
  CHECK(squares.size() == 1000);
  CHECK(squares[999] == 998001);
  CHECK(ring_steal_example::nodes(ctx) == 2097151);
  CHECK(divide_and_conquer_example::sum(ctx) == 499999500000);
  auto const means = multi_host_example::means(ctx);
  CHECK(means.size() == 800);
  CHECK(means.back() == 99);
  CHECK(bsp_example::about_one(ctx) == 1);
  CHECK(gather_example::squares(ctx).at(99) == 9801);
  CHECK(broadcast_example::read_everywhere(ctx, __FILE__).starts_with("// The examples"));
}
