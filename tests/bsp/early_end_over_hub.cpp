// Supersteps that end early save their latest state first, and a later run goes on from there.
#include <stop_token>

#include "over_hub.hpp"

using namespace bsp_test;

namespace {

// A checkpoint is due only at an early end.
skel::bsp_options saving_late(store const& where) {
  auto options = where.options(false);
  options.checkpoint->every_seconds = 1e6;
  return options;
}

// Stops in superstep 12 on the rank `by`.
template <class P>
void stops_and_goes_on(int ranks, int by) {
  INFO(ranks << " ranks, stopped by " << by);
  store const where;
  auto options = saving_late(where);
  std::stop_source stop;
  options.stop = stop.get_token();
  P program;
  program.event = [&](int rank, std::uint64_t n) {
    if (rank == by && n == 12) stop.request_stop();
    linger(n);
  };
  auto const first = run(ranks, program, options);
  for (auto const& text : first.errors) CHECK(text.empty());
  CHECK(first.run.stopped_early);
  REQUIRE(first.run.checkpoint);
  CHECK(first.run.checkpoint->saved == 1);
  auto const second = run(ranks, P{}, where.options(true));
  for (auto const& text : second.errors) CHECK(text.empty());
  REQUIRE(second.run.checkpoint);
  CHECK(second.run.checkpoint->restored_tasks >= 12);
  CHECK(second.run.checkpoint->restored_tasks < rounds);
  if constexpr (!std::is_same_v<P, neighbour_circle>) CHECK(second.whole == expected());
}

}  // namespace

TEST_CASE("a run that is stopped early saves its state, whoever asks") {
  for (int const ranks : {1, 2, 4})
    for (int by = 0; by < ranks; ++by) {
      stops_and_goes_on<circle>(ranks, by);
      stops_and_goes_on<neighbour_circle>(ranks, by);
    }
}

TEST_CASE("a run with a time limit saves its state") {
  store const where;
  auto options = saving_late(where);
  options.time_limit_seconds = 0.1;
  circle program;
  program.event = [&](int, std::uint64_t) { std::this_thread::sleep_for(20ms); };
  auto const e = run(3, program, options);
  CHECK(e.run.stopped_early);
  REQUIRE(e.run.checkpoint);
  CHECK(e.run.checkpoint->saved == 1);
  CHECK(run(3, circle{}, where.options(true)).whole == expected());
}

TEST_CASE("a run that cannot save its state is stopped nevertheless") {
  store const where;
  auto options = saving_late(where);
  std::stop_source stop;
  options.stop = stop.get_token();
  circle program;
  program.event = [&](int rank, std::uint64_t n) {
    if (rank == 0 && n == 12) {
      for (auto const& d : where.directories) std::filesystem::remove_all(d);
      stop.request_stop();
    }
    linger(n);
  };
  auto const e = run(2, program, options);
  CHECK(e.run.stopped_early);
  REQUIRE(e.run.checkpoint);
  CHECK(e.run.checkpoint->saved == 0);
}
