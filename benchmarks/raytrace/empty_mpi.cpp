// An MPI program that does nothing: the memory of a rank before a scene is loaded.
#include <mpi.h>
#include <sys/resource.h>

#include <cstdio>

int main(int argc, char** argv) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
  MPI_Barrier(MPI_COMM_WORLD);  // includes connections between the ranks
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("rank=%d peak_memory_bytes=%ld\n", rank, usage.ru_maxrss * 1024L);
  MPI_Finalize();
}
