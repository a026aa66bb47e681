// A farm with given task costs, as an MPI program for SimGrid's SMPI: farm COSTS.csv SCHEDULE ROOT
// BYTES. A task takes its cost on the simulated processor, as in skel-simulate. The root prints the
// virtual seconds of the farm call, messages and bytes. scripts/smpi.sh builds and runs it.
#include <mpi.h>
#include <smpi/smpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "skel/mpi.hpp"
#include "skel/skel.hpp"

namespace {

constexpr double flops_at_power_1 = 1e9;  // as in export_platform

std::vector<double> read_costs(char const* path) {
  std::vector<double> costs;
  std::ifstream file(path);
  for (double c = 0; file >> c;) costs.push_back(c);
  return costs;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  MPI_Init(&argc, &argv);
  bool right = true;
  {
    auto const costs = read_costs(argv[1]);
    std::size_t const bytes = std::strtoull(argv[4], nullptr, 10);
    skel::context_options how;
    how.threads = 1;  // SMPI has one thread per rank
    how.quiet = true;
    // Never freed: freeing is a collective exchange with many requests, which SMPI searches at
    // every MPI_Test.
    auto& ctx = *std::make_unique<skel::context>(MPI_COMM_WORLD, how).release();
    skel::farm_options options;
    if (std::string(argv[3]) == "serves") options.root_works = false;
    std::size_t had = 0;
    auto const r =
        skel::farm(
            ctx, skel::indices(costs.size()),
            [&](std::uint64_t task) {
              smpi_execute_flops(costs[task] * flops_at_power_1);
              return std::vector<std::uint8_t>(bytes, static_cast<std::uint8_t>(task));
            },
            skel::any_schedule(argv[2]),
            [&](skel::task_id task, std::vector<std::uint8_t>&& got) {
              right = right && got == std::vector<std::uint8_t>(bytes, static_cast<std::uint8_t>(task));
              ++had;
            },
            options)
            .report;
    if (ctx.is_root()) {
      right = right && had == costs.size();
      std::printf("%s %.9g %llu %llu\n", right ? "right" : "WRONG", r.seconds,
                  static_cast<unsigned long long>(r.messages), static_cast<unsigned long long>(r.bytes));
    }
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
