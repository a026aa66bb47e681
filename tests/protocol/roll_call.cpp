// The root's record of the participating ranks, and the end of a call.
#include "protocol/roll_call.hpp"

#include "catch.hpp"

using namespace skel::role;
using status = outcome::status;

namespace {

// A roll call of ranks 0 and 1.
struct call_of_two {
  roll_call roll{2, 42};
  call_messages told{};

  void says(rank_id rank, call_message const& m) { roll.on(rank, m, told); }
  void closes(outcome how) { roll.close(std::move(how), told); }
  // Returns the messages of type `Own` sent to rank 1 since the last call.
  template <class Own>
  std::vector<Own> heard() {
    std::vector<Own> list;
    for (auto const& m : std::exchange(told, {}))
      if (auto const* const own = std::get_if<Own>(&m.what); own != nullptr && m.to == 1)
        list.push_back(*own);
    return list;
  }
  status end() {
    for (rank_id const r : {0, 1}) says(r, stopped{});
    auto const list = heard<finish>();
    REQUIRE(list.size() == 1);
    return list.front().how.how;
  }
};

}  // namespace

TEST_CASE("stop is repeated to ranks that have not stopped") {
  call_of_two b;
  b.closes({.how = status::stopped_early});
  CHECK(b.heard<stop>() == std::vector{stop{true}});
  b.says(0, stopped{});
  for (int i = 0; i < 7; ++i) b.roll.tick(b.told);
  CHECK(b.told.empty());
  b.roll.tick(b.told);
  CHECK(b.told.size() == 1);
  CHECK(b.heard<stop>() == std::vector{stop{true}});
}

TEST_CASE("the end is repeated to a rank that has not received it") {
  call_of_two b;
  b.roll.say_again(1, b.told);
  CHECK(b.told.empty());
  b.closes({.tasks = 3});
  b.end();
  b.roll.say_again(1, b.told);
  CHECK(b.heard<finish>().size() == 1);
  call_of_two aborted;
  aborted.roll.abort("why", aborted.told);
  aborted.told.clear();
  aborted.roll.say_again(1, aborted.told);
  CHECK(aborted.heard<skel::role::abort>() == std::vector{skel::role::abort{"why"}});
}

TEST_CASE("the outcome counts everything known at the end") {
  call_of_two b;
  b.says(1, failed{7, "no luck"});
  b.says(1, failed{7, "no luck"});  // repeated
  b.says(1, failed{8, "no luck"});
  b.roll.count(5, 2);
  b.says(0, stopped{});
  b.told.clear();
  b.says(1, stopped{});
  auto const list = b.heard<finish>();
  REQUIRE(list.size() == 1);
  CHECK(list.front().how == outcome{.how = status::task_failed,
                                    .task = 7,
                                    .rank = 1,
                                    .more = 1,
                                    .text = "no luck",
                                    .tasks = 5,
                                    .handed_out_again = 2});
}

TEST_CASE("an exception of a task or the sink during an early stop is reported") {
  call_of_two task, sink;
  task.closes({.how = status::stopped_early});
  task.says(1, failed{7, "no luck"});
  CHECK(task.end() == status::task_failed);
  sink.closes({.how = status::stopped_early});
  sink.closes({.how = status::sink_failed, .task = 7, .text = "disk full"});
  CHECK(sink.end() == status::sink_failed);
}

TEST_CASE("a rank that is heard again must stop as well") {
  call_of_two b;
  b.roll.lost(1, b.told);
  CHECK(b.roll.lost_ranks() == std::vector{1});
  b.roll.heard(1);
  CHECK(b.roll.lost_ranks().empty());
  b.closes({.how = status::stopped_early});
  b.says(0, stopped{});
  CHECK_FALSE(b.roll.finished());
}
