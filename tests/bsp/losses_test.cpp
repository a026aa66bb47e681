// Ranks of a bsp call kill themselves. The others continue, unless a superstep kills one rank after another.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "mpi/survivors.hpp"
#include "observe/support.hpp"

namespace {

test::ended run(std::string const& arguments, int ranks) {
  return test::run_with_deaths(std::string(SKEL_LOSSES) + " " + arguments, ranks);
}

void ends_with_the_superstep(std::string const& arguments, int ranks, std::string const& what) {
  INFO(arguments << ", " << ranks << " ranks");
  auto const e = run(arguments, ranks);
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 1);
  auto const says = [](std::string const& line) { return line.starts_with("mpi_bsp_losses: "); };
  CHECK(std::count_if(e.errors.begin(), e.errors.end(), says) == 1);
  auto const named = [&](std::string const& line) {
    return says(line) && line.find(what) != std::string::npos;
  };
  CHECK(std::count_if(e.errors.begin(), e.errors.end(), named) == 1);
}

// `where`: a directory for the stores, or none.
std::string random_death(std::string const& when, std::string const& kind, std::string const& where) {
  return std::string(SKEL_LOSSES) + " " + when + " " + kind + " " + where;
}

}  // namespace

TEST_CASE("ranks killed at any moment") {
  test::temporary_directory const d;
  std::uint64_t seed = 1;
  for (auto const* kind : {"all", "neighbours"})
    for (auto const* when : {"random", "two", "all"})
      for (bool const saves : {false, true}) {
        auto const where = saves ? d.file("") : std::string("none");
        test::survives(random_death(when, kind, where), seed++, 5);
      }
}

TEST_CASE("the others begin again when the root is killed, also with another rank, and its successor") {
  test::temporary_directory const d;
  test::own_hosts const names;
  std::uint64_t seed = 1;
  for (auto const* kind : {"all", "neighbours"}) {
    test::survives_roots(random_death("root", kind, d.file("")), "root", seed++);
    test::survives_roots(random_death("root", kind, "ranks:" + d.file("%r")), "root", seed++);
    test::survives_roots(random_death("successor", kind, d.file("")), "successor", seed++);
  }
  test::survives_roots(random_death("root+1", "all", "none"), "root+1", seed++, 5);
  test::survives_roots(random_death("successor", "all", "memory"), "successor", seed++, 5);
  test::survives_roots(random_death("root+1", "all", "rank:1:" + d.file("one")), "root+1", seed++, 5);
}

TEST_CASE("a long campaign, if SKEL_LONG is set") {
  if (std::getenv("SKEL_LONG") == nullptr) return;
  test::temporary_directory const d;
  char const* const moments[] = {"random", "random", "late", "two", "all"};
  for (std::uint64_t i = 0; i < 400; ++i) {
    auto const where = i % 3 != 0 ? d.file("") : std::string("none");
    char const* const roots[] = {"root", "root+1", "successor"};
    auto const* const kind = i % 2 == 0 ? "all" : "neighbours";
    if (i % 4 == 0)
      test::survives_roots(random_death(roots[i / 4 % 3], kind, where), roots[i / 4 % 3], 100 + 10000 * i,
                           4 + static_cast<int>(i % 3));
    test::survives(random_death(moments[i % 5], kind, where), 100 + 10000 * i, 3 + static_cast<int>(i % 4));
  }
}

TEST_CASE("a deadly superstep is blamed after three losses, and the root survives") {
  ends_with_the_superstep("step escape", 5, "superstep 7 was running on each of the lost ranks 4, 3, 2");
  ends_with_the_superstep("step escape", 4, "superstep 7 was running on each of the lost ranks 3, 2, 1");
}

TEST_CASE("the first superstep is blamed if begin kills") {
  ends_with_the_superstep("begin escape", 5,
                          "superstep 0, or making the state for it, was running on each of the lost ranks");
}

TEST_CASE("the superstep of the checkpoint is blamed if split kills") {
  test::temporary_directory const d;
  ends_with_the_superstep("split escape " + d.file(""), 6,
                          ", or making the state for it, was running on each of the lost ranks");
}

TEST_CASE("a deadly superstep is blamed even if the run resumes from a checkpoint after each loss") {
  test::temporary_directory const d;
  ends_with_the_superstep("step escape " + d.file(""), 5, "superstep 7");
}

TEST_CASE("a part whose rank is lost before it is gathered ends the job, without a result") {
  auto const e = run("gather escape", 4);
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 1);
  CHECK(e.out.empty());
  CHECK(std::count(e.errors.begin(), e.errors.end(),
                   "mpi_bsp_losses: lost rank 3, which held data that no other rank has") == 1);
}

TEST_CASE("losses in different supersteps do not end the run") {
  auto const e = run("apart escape", 5);
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 0);
  REQUIRE(e.out.size() == 1);
  CHECK(e.out[0].starts_with("right, lost 3 4, again "));
}

TEST_CASE("every survivor catches the error, and the next bsp call works") {
  auto const e = run("step next", 5);
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 0);
  auto const caught = [](std::string const& line) { return line == "superstep 7, rank 2"; };
  CHECK(std::count_if(e.out.begin(), e.out.end(), caught) == 2);
  auto const right = [](std::string const& line) { return line.starts_with("right, lost, before 2 3 4,"); };
  CHECK(std::count_if(e.out.begin(), e.out.end(), right) == 1);
}
