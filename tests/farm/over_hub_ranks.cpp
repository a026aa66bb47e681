// Farms of a program with assertions, which looks for tasks whose result depends on their rank.
#undef NDEBUG
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "over_hub.hpp"
#include "standard_error.hpp"

using namespace farm_test;

namespace {

struct part_of_rank {
  int operator()(std::uint64_t /*i*/, skel::worker_info const& where) const { return where.rank; }
};

template <class F>
std::string said_about(F const& task, std::optional<bool> check, skel::farm_options const& options = {}) {
  hub::job job(3, 1, std::size_t{1} << 30, {}, {},
               [&](int, skel::context_options& o) { o.check.tasks = check; });
  return test::standard_error_of([&] {
    job.run_well([&](skel::context& ctx) {
      std::vector<decltype(task(0, skel::worker_info{}))> got;
      skel::farm(ctx, skel::indices(9), task, skel::schedule::interleaved{}, skel::into(got), options);
    });
  });
}

}  // namespace

TEST_CASE("a build with assertions warns of a task whose result depends on its rank") {
  auto const text = said_about(part_of_rank{}, {});
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  CHECK(text.find(" has another result on rank ") != std::string::npos);
  CHECK(text.find("a task must not depend on the rank that runs it") != std::string::npos);

  CHECK(said_about(part_of_rank{}, false).empty());
  CHECK(said_about(part_of_rank{}, {}, {.task = {.run_once = true}}).empty());
  CHECK(said_about([](std::uint64_t i, skel::worker_info const&) { return i * i; }, {}).empty());
}
