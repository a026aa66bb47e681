// An ensemble of heat equations: each member runs on a team of two ranks, or SIZE (0: 1, 2 and 4), with MPI
// calls of its own. A member that diverges is left out; one that ends ranks, too, with exit code 3. The
// same bytes on any number of ranks, and if ranks are lost. STEPS leave time to kill a rank.
//     skel-mpiexec --no-ulfm -n 4 ensemble [SIZE [STEPS]]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <skel/mpi.hpp>
#include <skel/skel.hpp>
#include <stdexcept>
#include <vector>

constexpr int cells = 96, members = 12;

// Explicit steps on this rank's part of a rod. The whole rod on the team's root.
std::vector<double> heat(MPI_Comm team, double conductivity, int steps) {
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
    u.swap(next);
  }
  std::vector<double> rod(cells);
  MPI_Gather(&u[1], n, MPI_DOUBLE, rod.data(), n, MPI_DOUBLE, 0, team);
  return rod;
}

double middle_of(skel::context& team, skel::task_id member, int steps) {
  auto const rod = heat(skel::communicator_of(team), 0.05 * static_cast<double>(member + 1), steps);
  if (team.is_root() && !(std::abs(rod[10]) <= 1)) throw std::runtime_error("diverged");
  return rod[10];
}

int main(int argc, char** argv) {
  int const size = argc > 1 ? std::atoi(argv[1]) : 2, steps = argc > 2 ? std::atoi(argv[2]) : 400;
  auto const body = [size, steps](skel::context& ctx) {
    auto const middle = [steps](skel::context& team, skel::task_id m) { return middle_of(team, m, steps); };
    auto const ranks = [size](skel::task_id m) { return size > 0 ? size : 1 << m % 3; };
    // A rank whose MPI calls wait for a lost rank ends after the limit. The root must not end: it serves.
    skel::farm_options const options{.root_works = false,
                                     .on_error = skel::on_error::collect{},
                                     .task = {.time_limit_seconds = 10, .team_size = ranks}};
    auto const print = [](skel::task_id m, double x) {
      std::printf("conductivity %.2f: %.15f\n", 0.05 * static_cast<double>(m + 1), x);
    };
    auto const [report] = skel::farm(ctx, skel::indices(members), middle, skel::ordered(print), options);
    for (auto const& f : report.failed_tasks)  // on the root
      std::printf("member %llu: %s\n", static_cast<unsigned long long>(f.task), f.text.c_str());
    return std::ranges::any_of(report.failed_tasks, &skel::task_failure::ended_ranks) ? 3 : 0;
  };
  return skel::run_main(argc, argv, skel::restartable(body));
}
