// An existing MPI program that uses a farm in its middle: skel adopts the communicator and leaves
// MPI to the program.
//     mpiexec -n 4 adopt
#include <cstdio>
#include <skel/mpi.hpp>
#include <skel/skel.hpp>
#include <vector>

// The number of primes in a block of 1,000 numbers.
int primes(std::uint64_t block) {
  int count = 0;
  for (std::uint64_t n = 1000 * block + 2; n < 1000 * block + 1002; ++n) {
    bool prime = true;
    for (std::uint64_t d = 2; d * d <= n && prime; ++d) prime = n % d != 0;
    count += prime ? 1 : 0;
  }
  return count;
}

int main(int argc, char** argv) {
  int given = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
  int code = 0;
  try {
    std::vector<int> counts;
    {
      skel::context ctx(MPI_COMM_WORLD);  // collective; ended before MPI_Finalize
      skel::farm(ctx, skel::indices(200), primes, skel::schedule::guided{}, skel::into(counts));
    }
    // The program goes on with its own MPI calls.
    counts.resize(200);
    MPI_Bcast(counts.data(), 200, MPI_INT, 0, MPI_COMM_WORLD);
    int rank = 0, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int const c : counts) sum += c;
    if (rank == 0) std::printf("%d primes from 2 to 200001\n", sum);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "adopt: %s\n", e.what());
    code = 1;
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  MPI_Finalize();
  return code;
}
