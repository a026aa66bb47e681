// A program that runs on ranks, for tests of skel-run --ranks-per-task.
//   mpi_program WHAT [ARGUMENT]
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  std::string const what = argc > 1 ? argv[1] : "sum", argument = argc > 2 ? argv[2] : "";
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  int ranks_here = 0;
  MPI_Comm_size(here, &ranks_here);
  bool const last = rank == size - 1;
  if (what == "exit" && last) std::exit(std::atoi(argument.c_str()));
  if (what == "leave" && last) std::_Exit(0);
  if (what == "abort" && last) MPI_Abort(MPI_COMM_WORLD, std::atoi(argument.c_str()));
  if (what == "kill" && last) std::abort();
  if (what == "wait" && last)
    while (::access(argument.c_str(), F_OK) != 0) ::usleep(20'000);
  int const one = rank + 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d ranks, %d here, sum %d\n", size, ranks_here, sum);
  MPI_Comm_free(&here);
  MPI_Finalize();
}
