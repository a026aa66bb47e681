// The hand-written hypercube on a power of two of MPI ranks: `skel-bench-components-ranks GRAPH
// REPETITIONS [dense]`. Every rank has its part of the edges in memory, and all labels at the end.
// Rank 0 also measures the time that it needs alone for all edges.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "clock.hpp"
#include "generate.hpp"
#include "job.hpp"
#include "skel/hash.hpp"

namespace {

using namespace components;

edge_part part_of(graph_spec const& spec, std::uint64_t first, std::uint64_t last) {
  big_array<edge> edges(last - first);
  generate(spec, first, {edges.data(), edges.size()});
  return edge_part(std::move(edges));
}

struct timing {
  double seconds = 0, cpu = 0;
  std::uint64_t bytes = 0;
};

double processor_seconds() { return bench::processor_seconds(CLOCK_THREAD_CPUTIME_ID); }

roots exchanged(roots const& mine, int partner, timing& sum) {
  std::vector<std::byte> out, in;
  double cpu = processor_seconds();
  skel::pack(mine, out);
  sum.cpu += processor_seconds() - cpu;
  std::uint64_t size = out.size(), other = 0;
  MPI_Sendrecv(&size, 1, MPI_UINT64_T, partner, 0, &other, 1, MPI_UINT64_T, partner, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  in.resize(other);
  MPI_Sendrecv(out.data(), static_cast<int>(size), MPI_BYTE, partner, 1, in.data(), static_cast<int>(other),
               MPI_BYTE, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  sum.bytes += size;
  cpu = processor_seconds();
  std::span<std::byte const> bytes(in);
  auto theirs = skel::unpack<roots>(bytes);
  sum.cpu += processor_seconds() - cpu;
  return theirs;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3 || (ranks & (ranks - 1)) != 0) {
    std::fprintf(stderr, "skel-bench-components-ranks: expected GRAPH REPETITIONS, and 2^k ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  auto const spec = parse_graph(argv[1]);
  components_job job{.nodes = spec.nodes};
  if (argc > 3 && std::strcmp(argv[3], "dense") == 0) job.how = exchange::dense;
  auto const size = static_cast<std::uint64_t>(ranks), me = static_cast<std::uint64_t>(rank);
  auto const part = part_of(spec, spec.edges * me / size, spec.edges * (me + 1) / size);
  edge_part const whole = rank == 0 ? part_of(spec, 0, spec.edges) : edge_part();
  for (int i = std::atoi(argv[2]); i > 0; --i) {
    timing alone, together;
    if (rank == 0) {
      double const begin = bench::seconds(), cpu = processor_seconds();
      auto const labels = job.solve(whole);
      alone.cpu = processor_seconds() - cpu;
      alone.seconds = bench::seconds() - begin;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double const begin = bench::seconds();
    double cpu = processor_seconds();
    auto mine = job.solve(part);
    together.cpu += processor_seconds() - cpu;
    for (int bit = 1; bit < ranks; bit *= 2) {
      auto theirs = exchanged(mine, rank ^ bit, together);
      cpu = processor_seconds();
      mine = job.combine(std::move(mine), std::move(theirs));
      together.cpu += processor_seconds() - cpu;
    }
    together.seconds = bench::seconds() - begin;
    double slowest = 0, cpu_of_slowest = 0;
    MPI_Reduce(&together.seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&together.cpu, &cpu_of_slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    auto const hash = skel::xxh3_hex(std::as_bytes(mine.labels()));
    if (rank == 0)
      std::printf("ranks=%d seconds=%.6f cpu=%.6f alone=%.6f alone_cpu=%.6f bytes=%llu xxh3=%s\n", ranks,
                  slowest, cpu_of_slowest, alone.seconds, alone.cpu,
                  static_cast<unsigned long long>(together.bytes), hash.c_str());
  }
  MPI_Finalize();
}
