// context::require_same over ranks in one process.
#include <array>
#include <string>

#include "farm/over_hub.hpp"
#include "observe/support.hpp"
#include "skel/error.hpp"

using namespace farm_test;

TEST_CASE("require_same: bytes with zeros, and a single process") {
  std::array<std::byte, 3> const bytes{std::byte{1}, std::byte{0}, std::byte{2}};
  skel::context alone;
  CHECK_NOTHROW(alone.require_same("bytes", bytes));
  hub::job job(2);
  job.run([&](skel::context& ctx) {
    auto mine = bytes;
    if (ctx.rank() == 1) mine[2] = std::byte{3};
    ctx.require_same("the last byte", mine);
  });
  CHECK(job.error(0).starts_with("the last byte of rank 1 differs"));
  CHECK(job.error(1) == job.error(0));
}

TEST_CASE("require_same: a lost rank does not count") {
  hub::job job(3);
  job.run([&](skel::context& ctx) {
    if (ctx.rank() == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the others already wait for rank 2
      job.kill(2);
      return;
    }
    ctx.require_same("seed", "1");
  });
  CHECK(job.error(0).empty());
  CHECK(job.error(1).empty());
  job.run([&](skel::context& ctx) {
    if (ctx.rank() < 2) ctx.require_same("seed", std::to_string(ctx.rank()));
  });
  CHECK(job.error(0).starts_with("seed of rank 1 differs"));
}
