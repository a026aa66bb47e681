// MPI calls of the program itself, and losses of the root: own_call_losses WHEN. The root kills itself during
// the farm: root, or successor: also the next root. waits: the last rank then waits for a message that never
// comes. The root of the last attempt prints the sum of a reduction over all ranks, and whether the farm is
// right.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "deaths.hpp"
#include "skel/mpi.hpp"
#include "skel/skel.hpp"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  if (argc != 2) return 2;
  std::string const when = argv[1];
  auto const body = [&](skel::context& ctx) {
    MPI_Comm const comm = skel::communicator_of(ctx);
    int const mine = 1 << ctx.rank();
    int all = 0;
    if (MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS) throw skel::error("no sum");
    if (when == "waits" && ctx.attempt() == 1 && ctx.rank() == ctx.size() - 1) {
      int never = 0;
      MPI_Recv(&never, 1, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE);
    }
    bool const dies = ctx.attempt() <= (when == "successor" ? 2 : 1);
    std::uint64_t sum = 0, sunk = 0;
    auto const task = [](std::uint64_t i) {
      std::this_thread::sleep_for(1ms);
      return i;
    };
    auto const report = skel::farm(ctx, skel::indices(200), task, skel::schedule::guided{},
                                   [&](skel::task_id, std::uint64_t i) {
                                     if (dies && ++sunk == 20) test::die();
                                     sum += i;
                                   })
                            .report;
    if (!ctx.is_root()) return;
    std::printf("%d, ", all);
    test::say_losses(sum == 199 * 200 / 2, report);
  };
  return skel::run_main(argc, argv, skel::restartable(body));
}
