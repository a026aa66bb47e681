// How long the ranks need to go on after the loss of rank 0, from checkpoints in the memory of the others:
//   SKEL_THREADS=1 skel-mpiexec -n 4 --oversubscribe skel-bench-recover [STORE [MEGABYTES [SECONDS]]]
// STORE is memory by default. All ranks must run on one host. Rank 0 kills itself after SECONDS (default 20),
// in which a checkpoint must be complete. Beforehand, measures what copying as many bytes by MPI takes.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "skel/mpi.hpp"
#include "skel/skel.hpp"

namespace {

using std::chrono::steady_clock;
constexpr std::uint64_t cell_bytes = 8;

double now() { return std::chrono::duration<double>(steady_clock::now().time_since_epoch()).count(); }

std::filesystem::path death() { return std::filesystem::temp_directory_path() / "skel-bench-recover.death"; }

double time_of_death() {
  double t = 0;
  std::ifstream(death()) >> t;
  return t;
}

// Each rank sends its share to the next, which receives it in fresh memory.
double copy_seconds(skel::context& ctx, std::uint64_t bytes) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  auto const pieces = bytes / static_cast<unsigned>(ctx.size()) / piece;
  std::vector<std::byte> const from(piece, std::byte{1});
  std::unique_ptr<std::byte[]> const to(new std::byte[pieces * piece]);
  int const size = ctx.size(), next = (ctx.rank() + 1) % size, previous = (ctx.rank() + size - 1) % size;
  MPI_Comm const comm = skel::communicator_of(ctx);
  MPI_Barrier(comm);
  double const begin = now();
  for (std::size_t i = 0; i < pieces; ++i)
    MPI_Sendrecv(from.data(), piece, MPI_BYTE, next, 0, to.get() + i * piece, piece, MPI_BYTE, previous, 0,
                 comm, MPI_STATUS_IGNORE);
  MPI_Barrier(comm);
  return now() - begin;
}

// Members of the program would have to be equal in both attempts.
int attempt = 1;
double dies_at = 0, began = 0;

struct large_state {
  using state = std::vector<std::uint64_t>;
  using message = int;
  std::uint64_t cells = 0;

  struct range {
    std::uint64_t first = 0, count = 0;
  };
  [[nodiscard]] range share(int rank, int size) const {
    auto const first = cells * static_cast<unsigned>(rank) / static_cast<unsigned>(size);
    auto const end = cells * static_cast<unsigned>(rank + 1) / static_cast<unsigned>(size);
    return {first, end - first};
  }
  [[nodiscard]] state begin(int rank, int size) const {
    auto const mine = share(rank, size);
    state s(mine.count);
    for (std::uint64_t i = 0; i < mine.count; ++i) s[i] = (mine.first + i) * 0x9e3779b97f4a7c15U;
    return s;
  }
  bool step(state& /*s*/, skel::superstep<message>& in) const {
    if (attempt > 1) {
      std::printf(
          "rank %d of %d: the body begins %.3f s after the loss of rank 0, superstep %llu %.3f s, %llu MB\n",
          in.rank(), in.size(), began - time_of_death(), static_cast<unsigned long long>(in.number()),
          now() - time_of_death(), static_cast<unsigned long long>(cells * cell_bytes / 1'000'000));
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (in.rank() == 0 && now() > dies_at) {
      std::ofstream(death()) << std::fixed << now() << std::flush;
      std::raise(SIGKILL);
    }
    return true;
  }
  [[nodiscard]] skel::bsp_part<large_state> split(skel::bsp_parts<large_state> const& parts, int rank,
                                                  int size) const {
    auto const mine = share(rank, size);
    state s;
    s.reserve(mine.count);
    for (int i = 0; i < parts.size(); ++i) {
      auto const theirs = share(i, parts.size());
      auto const first = std::max(mine.first, theirs.first);
      auto const end = std::min(mine.first + mine.count, theirs.first + theirs.count);
      if (first >= end) continue;
      auto const part = parts[i];
      auto const from = part.state.begin() + static_cast<std::ptrdiff_t>(first - theirs.first);
      s.insert(s.end(), from, from + static_cast<std::ptrdiff_t>(end - first));
    }
    return {std::move(s), {}};
  }
};

}  // namespace

int main(int argc, char** argv) {
  std::string const store = argc > 1 ? argv[1] : "memory";
  std::uint64_t const megabytes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
  double const seconds = argc > 3 ? std::strtod(argv[3], nullptr) : 20;
  auto const body = [&](skel::context& ctx) {
    skel::bsp_options options;
    auto& c = options.checkpoint.emplace();
    c.store = {store};
    c.every_seconds = 1;
    c.problem = "recover";
    if (ctx.attempt() == 1) {
      double const taken = copy_seconds(ctx, megabytes * 1'000'000);
      if (ctx.is_root())
        std::printf("copying %llu MB by MPI: %.3f s\n", static_cast<unsigned long long>(megabytes), taken);
      std::fflush(stdout);
    }
    began = now();
    attempt = ctx.attempt();
    dies_at = now() + seconds;
    large_state const program{megabytes * 1'000'000 / cell_bytes};
    auto const r = skel::bsp(ctx, program, options);
    bool right = true;
    auto const mine = program.share(ctx.rank(), ctx.size());
    for (std::uint64_t i = 0; i < mine.count; ++i)
      right = right && r.value[i] == (mine.first + i) * 0x9e3779b97f4a7c15U;
    if (!right) std::printf("rank %d: WRONG\n", ctx.rank());
    if (ctx.is_root()) std::filesystem::remove(death());
  };
  return skel::run_main(argc, argv, skel::restartable(body));
}
