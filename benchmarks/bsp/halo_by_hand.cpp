// The exchange of halo.hpp by hand: halo_by_hand BYTES STEPS MICROSECONDS REPETITIONS [multiple]. Prints the
// seconds of a step and a hash of rank 0's cells per repetition. `multiple`: MPI is started with
// MPI_THREAD_MULTIPLE, as skel starts it. halo.py also compiles it for SimGrid's SMPI.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "halo.hpp"

int main(int argc, char** argv) {
  bool const multiple = argc == 6 && std::strcmp(argv[5], "multiple") == 0;
  if (argc != 5 && !multiple) return 2;
  auto const words = std::strtoull(argv[1], nullptr, 10) / sizeof(std::uint64_t);
  int const steps = std::atoi(argv[2]), repetitions = std::atoi(argv[4]);
  double const microseconds = std::atof(argv[3]);
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  if (multiple && level != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 2);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int const before = (rank + size - 1) % size, after = (rank + 1) % size;
  int const bytes = static_cast<int>(words * sizeof(std::uint64_t));
  for (int r = 0; r < repetitions; ++r) {
    auto mine = halo_bench::beginning(rank, words);
    halo_bench::halo from_before(words), from_after(words);
    MPI_Barrier(MPI_COMM_WORLD);
    double const start = MPI_Wtime();
    for (int s = 0; s < steps; ++s) {
      halo_bench::compute(microseconds);
      std::array<MPI_Request, 4> open{};
      // Tag 0 travels upwards, tag 1 downwards: with two ranks, before and after are the same rank.
      MPI_Irecv(from_before.data(), bytes, MPI_BYTE, before, 0, MPI_COMM_WORLD, &open[0]);
      MPI_Irecv(from_after.data(), bytes, MPI_BYTE, after, 1, MPI_COMM_WORLD, &open[1]);
      MPI_Isend(mine.last.data(), bytes, MPI_BYTE, after, 0, MPI_COMM_WORLD, &open[2]);
      MPI_Isend(mine.first.data(), bytes, MPI_BYTE, before, 1, MPI_COMM_WORLD, &open[3]);
      MPI_Waitall(4, open.data(), MPI_STATUSES_IGNORE);
      halo_bench::add(mine, from_before.data(), from_after.data());
    }
    double const took = MPI_Wtime() - start;
    if (rank == 0)
      std::printf("program=by-hand repetition=%d step_seconds=%.9g hash=%llu\n", r, took / steps,
                  static_cast<unsigned long long>(halo_bench::hash(mine)));
  }
  MPI_Finalize();
  return 0;
}
