// context::require_same over ranks in one process.
#include <array>
#include <string>

#include "farm/over_hub.hpp"
#include "observe/support.hpp"
#include "skel/error.hpp"

using namespace farm_test;

namespace {

// Calls require_same with one text per rank and checks that every rank throws `what`, or nothing if it is
// empty.
void check_refused(hub::job& job, int ranks, std::vector<std::string> const& texts, std::string const& what) {
  job.run([&](skel::context& ctx) {
    ctx.require_same("--angle", texts.at(static_cast<std::size_t>(ctx.rank())));
  });
  for (int r = 0; r < ranks; ++r) {
    CAPTURE(r);
    CHECK(job.error(r) == what);
    if (!what.empty()) hub::check_thrown<skel::usage_error>(job, r);
  }
}

}  // namespace

TEST_CASE("require_same: equal texts pass; the lowest rank that differs is named") {
  hub::job job(4, 2);
  std::string const end = " differs from rank 0's: it must be the same on all ranks";
  check_refused(job, 4, {"45", "45", "45", "45"}, {});
  check_refused(job, 4, {"", "", "", ""}, {});
  check_refused(job, 4, {"45", "45", "45", "10"}, "--angle of rank 3" + end);
  check_refused(job, 4, {"45", "45", "10", "11"}, "--angle of rank 2" + end);
  check_refused(job, 4, {"10", "45", "45", "45"}, "--angle of rank 1" + end);
  check_refused(job, 4, {"45", "45", "45", "450"}, "--angle of rank 3" + end);
  check_refused(job, 4, {"45", "45", "45", "45"}, {});  // the context still works after an error

  std::vector<std::uint64_t> got;
  job.run([&](skel::context& ctx) {
    skel::farm(ctx, skel::indices(50), work, skel::schedule::guided{}, skel::into(got));
  });
  CHECK(got == expected(50));
}

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

TEST_CASE("require_same against a different call is an error, not a hang") {
  hub::job job(3);
  job.run([&](skel::context& ctx) { ctx.require_same(ctx.rank() == 2 ? "width" : "height", "1"); });
  for (int r = 0; r < 3; ++r) {
    CHECK(test::contains(job.error(r), "rank 2 made another skeleton call than the root"));
    hub::check_thrown<skel::protocol_error>(job, r);
  }
}
