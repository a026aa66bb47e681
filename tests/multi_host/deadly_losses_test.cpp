// Real SIGKILLs: a piece or a unit kills its process. The error names it, and ranks survive.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mpi/survivors.hpp"

namespace {

std::ptrdiff_t lines(std::vector<std::string> const& all, std::string const& begin, std::string const& part) {
  return std::count_if(all.begin(), all.end(), [&](std::string const& line) {
    return line.starts_with(begin) && line.find(part) != std::string::npos;
  });
}

void is_named(std::string const& where, int size, int ranks, std::string const& what) {
  INFO(where << ", groups of " << size << ", " << ranks << " ranks");
  auto const e = test::run_with_deaths(test::in_groups(where, size) + " escape", ranks);
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 1);
  std::string const program = "mpi_deadly_group_losses: ";
  CHECK(lines(e.errors, program, "task 19 failed on rank ") == 1);
  CHECK(lines(e.errors, program, what) == 1);
  CHECK(lines(e.errors, program, " was running on each of the lost ranks ") == 1);
}

}  // namespace

TEST_CASE("the error names a piece that kills its process, or its unit") {
  is_named("process", 4, 8, "unit 19 ");  // a host has processed the piece, so only the unit is known

  is_named("process", 1, 4, "reading unit 19 or one of its pieces");
}

TEST_CASE("the error names a unit that kills the host that reads it") {
  is_named("read", 2, 6, "reading unit 19 or one of its pieces");
  is_named("read", 1, 4, "reading unit 19 or one of its pieces");
}

TEST_CASE("the survivors catch the error, and their next call works") {
  auto const e = test::run_with_deaths(test::in_groups("read", 2) + " next", 6);
  CAPTURE(e.out, e.errors);
  CHECK(e.code == 0);
  CHECK(lines(e.out, "task 19", "") == 4);
  CHECK(lines(e.out, "right, lost, before ", "") == 1);
}
