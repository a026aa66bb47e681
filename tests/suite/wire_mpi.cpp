// The suite over MPI: all ranks run the same cases in the same order. A failed check ends all ranks, as an
// exception in the body of any program does.
#include <exception>
#include <thread>

#include "engine/context_access.hpp"
#include "engine/engine.hpp"
#include "skel/mpi.hpp"
#include "skel/skel.hpp"
#include "suite.hpp"

namespace {

skel::context* world = nullptr;
std::exception_ptr failure;

}  // namespace

namespace suite {

void on_ranks(std::function<void(skel::context&)> const& body) {
  int const threads = world->threads();
  try {
    body(*world);
  } catch (...) {
    failure = std::current_exception();
    throw;
  }
  world->set_threads(threads);
  skel::detail::context_access::engine_of(*world).calls().stop_requested() =
      false;  // the next case is not stopped
  SUCCEED();
}

void spend(std::chrono::microseconds time) { std::this_thread::sleep_for(time); }

}  // namespace suite

// The user's own MPI code runs on exactly these ranks, in their order.
TEST_CASE("the communicator of a team has its ranks", "[teams]") {
  suite::on_ranks([](skel::context& ctx) {
    std::vector<int> ranks;  // the others are in no team
    for (int r = ctx.size() - 1; r >= 0; r -= 2) ranks.push_back(r);
    if ((ctx.size() - 1 - ctx.rank()) % 2 == 0) {
      auto team = ctx.team(ranks);
      MPI_Comm const c = skel::communicator_of(team);
      int rank = 0, size = 0, sum = 0;
      int const mine = ctx.size();
      MPI_Comm_rank(c, &rank);
      MPI_Comm_size(c, &size);
      CHECK(rank == team.rank());
      CHECK(size == team.size());
      CHECK(c == skel::communicator_of(team));
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, c);
      CHECK(sum == ctx.size() * static_cast<int>(ranks.size()));
      auto const total = suite::sum_of(team, 100);
      CHECK(team.is_root() == (ctx.rank() == ctx.size() - 1));
      if (team.is_root()) CHECK(total == 4950);
    }
    suite::usable(ctx);
  });
}

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    world = &ctx;
    std::vector<char const*> words(argv, argv + argc);
    words.push_back("--abort");
    if (!ctx.is_root()) words.insert(words.end(), {"--out", "/dev/null"});
    if (test::run_cases(static_cast<int>(words.size()), words.data()) == 0) return;
    if (failure) std::rethrow_exception(failure);
    throw std::runtime_error("a case failed outside of the ranks' bodies");
  });
}
