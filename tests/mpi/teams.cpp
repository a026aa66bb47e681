// Teams over MPI: splits, communicators of teams, and a team's calls beside another's.
#include <boost/mpi.hpp>
#include <string>
#include <vector>

#include "check.hpp"
#include "skel/skel.hpp"

namespace {

using test::check;
using test::check_equal;

std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a + b; }

std::uint64_t farmed(skel::context& ctx, std::uint64_t n) {
  std::uint64_t total = 0;
  skel::farm(ctx, skel::indices(n), test::mix, skel::schedule::guided{}, skel::reduced(total, sum));
  return total;
}
std::uint64_t expected(std::uint64_t n) {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < n; ++i) total += test::mix(i);
  return total;
}

void two_teams(skel::context& ctx) {
  auto const half = ctx.rank() % 2;
  auto team = ctx.split(half);
  check_equal(team.rank(), ctx.rank() / 2, "place in the team");
  check_equal(team.size(), (ctx.size() + 1 - half) / 2, "size of the team");
  for (int i = 0; i < 3 + 5 * half; ++i) {  // the teams make different numbers of calls
    auto const total = farmed(team, 500);
    if (team.is_root()) check_equal(total, expected(500), "farm of a team");
  }
  auto const all = farmed(ctx, 700);
  if (ctx.is_root()) check_equal(all, expected(700), "farm of all ranks after that");
}

// The user's own MPI code runs on exactly these ranks, in their order.
void communicators(skel::context& ctx) {
  std::vector<int> ranks;  // the others are in no team
  for (int r = ctx.size() - 1; r >= 0; r -= 2) ranks.push_back(r);
  if ((ctx.size() - 1 - ctx.rank()) % 2 != 0) return;
  auto team = ctx.team(ranks);
  auto const& c = team.communicator();
  check_equal(c.rank(), team.rank(), "rank of the communicator");
  check_equal(c.size(), team.size(), "size of the communicator");
  check(&c == &team.communicator(), "the communicator is made once");
  int const wanted = ctx.size() * static_cast<int>(ranks.size());
  check_equal(boost::mpi::all_reduce(c, ctx.size(), std::plus<>()), wanted, "sum over the team");
  auto const total = farmed(team, 100);
  if (team.is_root()) {
    check_equal(ctx.rank(), ctx.size() - 1, "the first rank of the list is the root");
    check_equal(total, expected(100), "farm beside a communicator");
  }
}

void an_error_stays_in_its_team(skel::context& ctx) {
  auto team = ctx.split(ctx.rank() % 2);
  if (ctx.rank() % 2 == 1) {
    auto const e = test::thrown_by<skel::task_error>(
        [&] {
          skel::farm(
              team, skel::indices(20),
              [](std::uint64_t i) -> std::uint64_t { return i == 7 ? throw std::runtime_error("seven") : i; },
              skel::schedule::guided{}, [](skel::task_id, std::uint64_t) {});
        },
        "a task that throws");
    check(test::contains(e.what(), "seven"), "text of the error");
  }
  auto const total = farmed(team, 200);
  if (team.is_root()) check_equal(total, expected(200), "farm beside an error");
}

void run(skel::context& ctx) {
  two_teams(ctx);
  communicators(ctx);
  an_error_stays_in_its_team(ctx);
}

}  // namespace

int main(int argc, char** argv) { return skel::run_main(argc, argv, run); }
