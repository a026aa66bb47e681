// Real SIGKILLs: every schedule, at random and chosen moments, results compared by bytes. A run counts
// only if a loss was seen while tasks were unfinished.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "mpi/survivors.hpp"
#include "observe/support.hpp"

namespace {

struct loss {
  char const* schedule;
  char const* results;
  char const* when;
};

int counted = 0;
int tried = 0;

std::string command(loss const& l) {
  return std::string(SKEL_LOSSES) + " " + l.schedule + " " + l.results + " " + l.when;
}

void survives(loss const& l, std::uint64_t seed, int ranks = 4) {
  tried += test::survives(command(l), seed, ranks);
  ++counted;
}

void survives_roots(loss const& l, std::uint64_t seed, int ranks = 4) {
  test::survives_roots(command(l), l.when, seed, ranks);
}

std::uint64_t campaign() {
  char const* const n = std::getenv("SKEL_LONG");
  return n != nullptr ? 500 : 0;
}

// Shared memory of Open MPI 4 that no process has.
std::vector<std::string> unused_segments() {
  return test::lines_of(test::run_command("for f in /dev/shm/vader_segment.*; do "
                                          "[ ! -e $f ] || grep -qsF $f /proc/[0-9]*/maps || echo $f; done")
                            .text);
}

constexpr char const* schedules[] = {
    "blocks", "interleaved", "first-come", "auto",
    "guided", "hybrid",      "ring",       "ring:take=one,takeover=predecessor"};

}  // namespace

TEST_CASE("a rank killed at random") {
  std::uint64_t seed = 1;
  for (auto const* how : schedules) survives({how, "streamed", "random"}, seed++);
  survives({"guided", "on-root", "random"}, seed++);
  survives({"ring", "on-root", "random"}, seed++);
}

TEST_CASE("a rank killed in its first task") {
  std::uint64_t seed = 1;
  for (auto const* how : schedules) survives({how, "streamed", "first"}, seed++);
}

TEST_CASE("every rank but the root killed by the last task, one after the other") {
  for (auto const* how : schedules) survives({how, "streamed", "last"}, 1, 3);
}

TEST_CASE("a task that aborts every rank is left out, and the run goes on") {
  for (auto const* how : {"auto", "blocks", "ring"}) survives({how, "streamed", "abort"}, 1, 6);
}

TEST_CASE("a task that does not end is left out, and its rank ends") {
  for (auto const* how : {"auto", "interleaved", "ring"}) survives({how, "streamed", "hang"}, 1, 3);
}

TEST_CASE("a rank lost by the last task's time limit is named by the report of that call only") {
  for (auto const* how : {"auto", "interleaved"}) {
    auto const e = test::run_with_deaths(command({how, "streamed", "hang-last"}) + " 1", 3);
    CAPTURE(how, e.out, e.errors);
    CHECK(e.code == 0);
    REQUIRE(e.out.size() == 2);
    REQUIRE(e.out[0].starts_with("right, lost "));
    auto const begin = std::string("right, lost ").size();
    auto const lost = e.out[0].substr(begin, e.out[0].find(", again") - begin);
    CHECK(e.out[1].starts_with("right, lost"));  // and perhaps a rank that ran a copy
    CHECK(e.out[1].find(", before " + lost + ",") != std::string::npos);
  }
}

TEST_CASE("a copy that does not end ends its rank when its time has passed, although the call is over") {
  auto const e =
      test::run_with_deaths(command({"ring:order=doubling,copies=yes", "streamed", "hang-copy"}) + " 1", 3);
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 0);
  REQUIRE(e.out.size() == 2);
  CHECK(e.out[0] == "right, lost, again 0");
  CHECK(e.out[1].starts_with("right, lost 1, again "));
}

TEST_CASE("a task that does not end on the root ends this rank, and the others begin again") {
  auto const e = test::run_with_deaths(command({"auto", "streamed", "hang-root"}) + " 1", 3);
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 0);
  REQUIRE(e.out.size() == 2);
  auto lines = e.out;
  std::sort(lines.begin(), lines.end());
  CHECK(lines[0] == "right, lost, again 0, attempt 2");  // only the root counts
  CHECK(lines[1] == "right, lost, again 1, attempt 2");
  CHECK(std::count_if(e.errors.begin(), e.errors.end(), [](auto const& line) {
          return line.starts_with("skel: rank 0: task ") &&
                 line.ends_with(" has run for longer than its time limit of 2 s, so this rank ends");
        }) == 1);
}

TEST_CASE("audits find a rank that flips bits, although another rank or itself is killed") {
  std::uint64_t seed = 1;
  for (auto const* how : {"auto", "blocks", "ring", "first-come"})
    survives({how, "audited", "random"}, seed++, 5);
}

TEST_CASE("two ranks at once, and all but the root") {
  for (auto const* how : {"auto", "guided", "interleaved", "ring"}) {
    survives({how, "streamed", "two"}, 5);
    survives({how, "streamed", "all"}, 6);
  }
}

TEST_CASE("a rank killed while ranks steal, or while concentrated results are gathered") {
  survives({"ring", "streamed", "late"}, 1);
  survives({"ring:take=one", "streamed", "late"}, 2);
  survives({"ring", "concentrated", "late"}, 3);
  survives({"interleaved", "concentrated", "late"}, 4);
  survives({"guided", "concentrated", "random"}, 5);
}

TEST_CASE("the others begin again when the root is killed, also with another rank, and its successor") {
  std::uint64_t seed = 1;
  for (auto const* how : schedules) survives_roots({how, "streamed", "root"}, seed++);
  survives_roots({"guided", "on-root", "root"}, seed++);
  survives_roots({"ring", "concentrated", "root"}, seed++);
  for (auto const* how : {"auto", "ring"}) survives_roots({how, "streamed", "successor"}, seed++);
  for (auto const* how : {"auto", "blocks"}) survives_roots({how, "streamed", "root+1"}, seed++, 5);
  survives_roots({"guided", "streamed", "root"}, seed++, 2);
}

TEST_CASE(
    "the same with checkpoints, also on the ranks' own disks, or with the only one on that of the root") {
  test::temporary_directory const d;
  test::own_hosts const names;
  std::uint64_t seed = 1;
  auto const saved = [&](std::string const& layout) { return "saved:" + layout + d.file(""); };
  for (auto const* when : {"root", "successor"}) {
    survives_roots({"auto", saved("").c_str(), when}, seed++);
    survives_roots({"ring", (saved("ranks:") + "/%r").c_str(), when}, seed++);
  }
  survives_roots({"guided", saved("rank:0:").c_str(), "root"}, seed++);
}

TEST_CASE("false suspicions are harmless") {
  for (auto const* how : {"auto", "guided", "ring"})
    test::survives_suspicions(command({how, "streamed", "never"}) + " 1");
}

TEST_CASE("a long campaign, if SKEL_LONG is set") {
  for (std::uint64_t i = 0; i < campaign(); ++i) {
    auto const* how = schedules[i % std::size(schedules)];
    char const* const moments[] = {"random", "random", "first", "last", "two", "all", "late"};
    char const* const ways[] = {"streamed", "streamed", "concentrated"};
    survives({how, ways[i % 3], moments[(i / 3) % std::size(moments)]}, 100 + i);
  }
}

TEST_CASE("a long campaign of losses of the root, if SKEL_LONG is set, leaves nothing behind") {
  if (campaign() == 0) return;
  test::temporary_directory const d;
  ::setenv("SKEL_STATUS_DIR", d.file("").c_str(), 1);
  auto const segments_before = unused_segments();
  for (std::uint64_t i = 0; i < campaign(); ++i) {
    auto const* how = schedules[i % std::size(schedules)];
    char const* const ways[] = {"streamed", "streamed", "concentrated"};
    char const* const roots[] = {"root", "root+1", "successor"};
    survives_roots({how, ways[i % 3], roots[(i / 3) % 3]}, 100 + i, 4 + static_cast<int>(i % 3));
  }
  ::unsetenv("SKEL_STATUS_DIR");
  CHECK(d.entries() == 0);
  CHECK(unused_segments() == segments_before);
  CHECK(test::run_command("pgrep -f '^" SKEL_LOSSES "'").code == 1);
}

TEST_CASE("enough runs have losses among unfinished tasks") {
  std::printf("%d runs with a loss among unfinished tasks, of %d\n", counted, tried);
  CHECK(counted >= 30);
}
