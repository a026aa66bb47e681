// A task that kills its process is named after two ranks were lost while running it, before it kills more
// ranks.
#include <algorithm>
#include <string>

#include "catch.hpp"
#include "survivors.hpp"

namespace {

test::ended run(std::string const& how, std::string const& results, std::string const& way,
                std::string const& afterwards, int ranks) {
  auto const command = std::string(SKEL_LOSSES) + " " + how + " " + results + " " + way + " " + afterwards;
  return test::run_with_deaths(command, ranks);
}

auto times_named(test::ended const& e, int task) {
  auto const begin = "mpi_poison_losses: task " + std::to_string(task) + " failed on rank ";
  return std::count_if(e.errors.begin(), e.errors.end(), [&](std::string const& line) {
    return line.starts_with(begin) &&
           line.find(": it was running on each of the lost ranks ") != std::string::npos;
  });
}

// Open MPI may add lines of its own about a rank that aborts.
void ends_with_the_task(std::string const& how, std::string const& results, std::string const& way,
                        int ranks) {
  INFO(how << ", " << results << ", " << way << ", " << ranks << " ranks");
  auto const e = run(how, results, way, "escape", ranks);
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 1);
  CHECK(times_named(e, 37) == 1);
  auto const says = [](std::string const& line) { return line.starts_with("mpi_poison_losses: "); };
  CHECK(std::count_if(e.errors.begin(), e.errors.end(), says) == 1);
}

}  // namespace

TEST_CASE("a task that kills its process is named, with every schedule") {
  for (auto const* how : {"blocks", "interleaved", "first-come", "auto", "guided", "hybrid", "ring",
                          "ring:take=one,takeover=predecessor"})
    ends_with_the_task(how, "streamed", "crash", 4);
}

TEST_CASE("a task that aborts is named, and one that is sent") {
  ends_with_the_task("guided", "streamed", "abort", 4);
  ends_with_the_task("ring", "streamed", "abort", 4);
  ends_with_the_task("first-come", "on-root", "crash", 4);
}

TEST_CASE("the root does not run it when it is the only rank left") {
  ends_with_the_task("guided", "streamed", "crash", 3);
  ends_with_the_task("blocks", "streamed", "crash", 3);
}

TEST_CASE("a task that ends root after root is named, before it ends all ranks") {
  for (auto const* how : {"blocks", "guided", "first-come", "ring"})
    for (auto const* way : {"crash", "abort"}) {
      INFO(how << ", " << way);
      auto const e = run(how, "streamed", way, "roots", 5);
      CAPTURE(e.out, e.errors);
      CHECK(e.code == 1);
      CHECK(times_named(e, 0) == 1);
      auto const again = [](std::string const& line) {
        return line.starts_with("mpi_poison_losses: lost the root ");
      };
      auto const roots = std::count_if(e.errors.begin(), e.errors.end(), again);
      CHECK(roots >= 1);  // the first one says to no rank what it runs
      CHECK(roots <= 2);
    }
}

TEST_CASE("concentrated results reveal less, so one more rank is lost") {
  ends_with_the_task("guided", "concentrated", "crash", 5);
}

TEST_CASE("SIGKILL may come from outside, so a task is named only after four ranks were lost") {
  auto const e = run("guided", "streamed", "kill", "escape", 6);
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 1);
  auto const named = [](std::string const& line) {
    return line.starts_with("mpi_poison_losses: task 37 failed on rank ") &&
           std::count(line.begin(), line.end(), ',') == 3;
  };
  CHECK(std::count_if(e.errors.begin(), e.errors.end(), named) == 1);
}

TEST_CASE("every survivor catches it, and the next farm works") {
  auto const e = run("guided", "streamed", "crash", "next", 5);
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 0);
  auto const caught = [](std::string const& line) { return line.starts_with("task 37, rank "); };
  CHECK(std::count_if(e.out.begin(), e.out.end(), caught) == 3);
  auto const right = [](std::string const& line) { return line.starts_with("right, lost, before "); };
  CHECK(std::count_if(e.out.begin(), e.out.end(), right) == 1);
}
