// A farm of teams whose ranks kill themselves: team_losses WHEN SIZE SEED. SIZE is that of the teams, 0:
// mixed. The root prints the lost ranks and whether the results are right. team_losses_test.cpp starts it.
// WHEN = mpi: the tasks make MPI calls of their own, which hang when a rank of the team is lost, so that a
// time limit ends the others. throws: likewise, when a rank throws before such a call.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "farm/team_sum.hpp"
#include "mpi/deaths.hpp"
#include "skel/mpi.hpp"
#include "skel/skel.hpp"

namespace {

using namespace std::chrono_literals;
using farm_test::circle;
constexpr std::uint64_t tasks = 60;

std::uint64_t by_mpi(skel::context& team, std::uint64_t i) {
  std::uint64_t const mine = circle{i}.begin(team.rank(), team.size());
  std::uint64_t sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, skel::communicator_of(team));
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  auto const body = [&](skel::context& ctx) {
    bool const throws = std::string(argv[1]) == "throws";
    bool const mpi = throws || std::string(argv[1]) == "mpi";
    test::plan_of_deaths const p{mpi ? "first" : argv[1], std::strtoull(argv[3], nullptr, 10), ctx.size(),
                                 120ms, ctx.attempt()};
    int const size = std::atoi(argv[2]);
    skel::farm_options options;
    options.max_losses_per_task = 0;  // the same task may run on several ranks that die
    if (size > 0)
      options.task.team_size = size;
    else
      options.task.team_size = [](skel::task_id i) { return std::array{1, 2, 4, 3}[i % 4]; };
    if (mpi) {
      options.task.time_limit_seconds = 3;
      options.root_works = false;
      if (throws) options.on_error = skel::on_error::retry{};
    }
    auto const run = [&](bool dying) {
      std::vector<std::uint64_t> got;
      int done_here = 0;
      auto const task = [&](skel::context& team, std::uint64_t i) {
        std::this_thread::sleep_for(2ms);
        // The others of the team are past skel's last check when one throws: they do wait in MPI.
        if (throws) MPI_Barrier(skel::communicator_of(team));
        if (dying && p.when == "first" && ctx.rank() == p.victim() && ++done_here == 2) {
          if (throws) throw std::runtime_error("once");
          test::die();
        }
        return mpi ? by_mpi(team, i) : skel::bsp(team, circle{i}).value;
      };
      auto const report = skel::farm(ctx, skel::indices(tasks), task, skel::into(got), options).report;
      bool const right = got == farm_test::expected_sums(tasks);
      if (ctx.is_root()) test::say_losses(right, report);
    };
    if (auto const life = p.lifetime(ctx.rank())) test::die_in(*life);
    run(true);
    run(false);  // the survivors continue
  };
  return skel::run_main(argc, argv, skel::restartable(body));
}
