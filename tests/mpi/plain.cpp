// A program that calls MPI directly: no header of Boost.MPI is included. Contexts over plain
// communicators, and communicators of contexts.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "check.hpp"
#include "skel/mpi.hpp"
#include "skel/skel.hpp"

#ifdef BOOST_MPI_COMMUNICATOR_HPP
#error "skel's headers include Boost.MPI"
#endif

namespace {

using test::check;
using test::check_equal;

std::uint64_t farmed(skel::context& ctx, std::uint64_t n) {
  std::uint64_t total = 0;
  skel::farm(
      ctx, skel::indices(n), [](std::uint64_t i) { return i; }, skel::schedule::guided{},
      skel::reduced(total, [](std::uint64_t a, std::uint64_t b) { return a + b; }));
  return total;
}

skel::context_options options(int threads) {
  skel::context_options o;
  o.threads = threads;
  o.quiet = true;
  return o;
}

int sum_over(MPI_Comm comm, int value) {
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

void over_the_world() {
  skel::context ctx(MPI_COMM_WORLD, options(1));
  int rank = 0, size = 0, relation = MPI_UNEQUAL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_equal(ctx.rank(), rank, "rank");
  check_equal(ctx.size(), size, "size");
  MPI_Comm_compare(skel::communicator_of(ctx), MPI_COMM_WORLD, &relation);
  check_equal(relation, static_cast<int>(MPI_IDENT), "the communicator that was given");
  auto const total = farmed(ctx, 1000);
  if (ctx.is_root()) check_equal(total, 499500U, "farm");

  // All ranks of the test share this machine.
  check_equal(ctx.local_rank(), rank, "rank on this host");
  check_equal(ctx.local_size(), size, "ranks on this host");

  auto team = ctx.split(ctx.rank() % 2);
  check_equal(sum_over(skel::communicator_of(team), 1), team.size(), "sum over a team");
  check_equal(team.local_size(), size, "a team counts all ranks on the host");
}

void over_a_part() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);  // in reverse order
  int part_rank = 0;
  MPI_Comm_rank(part, &part_rank);
  {
    skel::context ctx(part, options(1));
    check_equal(ctx.rank(), part_rank, "rank in a part");
    auto const total = farmed(ctx, 500);
    if (ctx.is_root()) check_equal(total, 124750U, "farm of a part");
  }
  MPI_Comm_free(&part);
}

// Ranks take turns at the devices that the environment shows.
void devices() {
  setenv("CUDA_VISIBLE_DEVICES", "4,7", 1);
  skel::context ctx(MPI_COMM_WORLD, options(2));
  unsetenv("CUDA_VISIBLE_DEVICES");
  std::vector<int> found;
  skel::farm(
      ctx, skel::indices(50),
      [&ctx](std::uint64_t, skel::worker_info const& where) {
        int const expected = ctx.size() == 1 ? static_cast<int>(where.thread) : where.rank % 2;
        return where.device == expected ? 1 : 0;
      },
      skel::schedule::interleaved{}, skel::into(found));
  for (int const right : found) check_equal(right, 1, "the device of a task");
  ctx.set_threads_per_device(3);
  int const own = ctx.size() == 1 ? 2 : 1;  // the ranks share a host
  check_equal(ctx.threads(), 3 * own, "threads of a rank with devices");
}

void refused() {
  auto const none =
      test::thrown_by<skel::usage_error>([] { skel::context const ctx(MPI_COMM_NULL); }, "MPI_COMM_NULL");
  check(test::contains(none.what(), "found MPI_COMM_NULL"), none.what());
  skel::context alone;
  auto const without = test::thrown_by<skel::usage_error>(
      [&] { static_cast<void>(skel::communicator_of(alone)); }, "a context without MPI");
  check(test::contains(without.what(), "without MPI"), without.what());
  check_equal(alone.local_rank(), 0, "local rank of one process");
  check_equal(alone.local_size(), 1, "local size of one process");
}

}  // namespace

int main(int argc, char** argv) {
  int given = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
  int code = 0;
  try {
    over_the_world();
    over_a_part();
    devices();
    refused();
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, code = 1);
  }
  MPI_Finalize();
  return code;
}
