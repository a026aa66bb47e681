// An ensemble of heat equations: each team of two ranks solves every other member in parallel, with
// MPI calls of its own. The same bytes on any number of ranks.
//     mpiexec -n 4 ensemble
#include <cstdio>
#include <skel/mpi.hpp>
#include <skel/skel.hpp>
#include <utility>
#include <vector>

constexpr int cells = 96, steps = 400;

// Explicit steps on this rank's part of a rod. The whole rod on the team's root.
std::vector<double> heat(MPI_Comm team, double conductivity) {
  int rank = 0, size = 1;
  MPI_Comm_rank(team, &rank);
  MPI_Comm_size(team, &size);
  int const n = cells / size, left = rank > 0 ? rank - 1 : MPI_PROC_NULL,
            right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  std::vector<double> u(static_cast<std::size_t>(n + 2)), next(u.size());
  if (rank == 0) u[0] = next[0] = 1;  // the hot end
  for (int s = 0; s < steps; ++s) {
    MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, left, 0, &u[n + 1], 1, MPI_DOUBLE, right, 0, team, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[n], 1, MPI_DOUBLE, right, 1, &u[0], 1, MPI_DOUBLE, left, 1, team, MPI_STATUS_IGNORE);
    for (int i = 1; i <= n; ++i) next[i] = u[i] + conductivity * (u[i - 1] - 2 * u[i] + u[i + 1]);
    std::swap(u, next);
  }
  std::vector<double> rod(cells);
  MPI_Gather(&u[1], n, MPI_DOUBLE, rod.data(), n, MPI_DOUBLE, 0, team);
  return rod;
}

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    int const teams = (ctx.size() + 1) / 2, color = ctx.rank() / 2;
    auto team = ctx.split(color);
    constexpr int members = 8;
    std::vector<double> middle(members);  // of the members of this team; 0 elsewhere
    for (int m = color; m < members; m += teams) {
      auto const rod = heat(skel::communicator_of(team), 0.05 * (m + 1));
      if (team.is_root()) middle[m] = rod[10];
    }
    std::vector<double> all(members);
    MPI_Reduce(middle.data(), all.data(), members, MPI_DOUBLE, MPI_SUM, 0, skel::communicator_of(ctx));
    if (!ctx.is_root()) return;
    for (int m = 0; m < members; ++m) std::printf("conductivity %.2f: %.15f\n", 0.05 * (m + 1), all[m]);
  });
}
