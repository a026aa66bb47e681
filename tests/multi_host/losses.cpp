// A multi_host call whose ranks kill themselves: group_losses WHEN SIZE SEED. The root reports the lost ranks
// and whether the output is right, twice: the second call starts without the lost ranks.
// group_losses_test.cpp starts it.
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "mpi/deaths.hpp"
#include "skel/skel.hpp"
#include "slices.hpp"

namespace {

using namespace std::chrono_literals;

// 24 slices of up to 6 rows of 6 milliseconds; reading takes 3.
struct deadly_slices : groups::slices {
  std::string dies_in{};  // the function in which a rank dies, set on that rank

  std::uint64_t read(std::uint64_t number, carried& c, unit& into) const {
    auto const n = slices::read(number, c, into);
    if (dies_in == "read" && number % 4 == 1) test::die();
    return n;
  }
  [[nodiscard]] packet cut(unit const& from, std::uint64_t first, std::uint64_t count) const {
    if (dies_in == "cut") test::die();
    return slices::cut(from, first, count);
  }
  [[nodiscard]] result process(packet const& p, std::size_t i) const {
    if (dies_in == "process") test::die();
    return slices::process(p, i);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  auto const body = [&](skel::context& ctx) {
    test::plan_of_deaths const p{argv[1], std::strtoull(argv[3], nullptr, 10), ctx.size(), 250ms,
                                 ctx.attempt()};
    deadly_slices first;
    first.read_time = 3ms;
    first.process_time = 6ms;
    deadly_slices const second = first;
    if (ctx.rank() == p.victim()) first.dies_in = p.when;
    if (auto const time = p.lifetime(ctx.rank())) test::die_in(*time);
    skel::multi_host_options how;
    how.group_size = static_cast<unsigned>(std::atoi(argv[2]));
    if (p.when == "all") how.max_losses_per_task = 0;  // they may die one after the other at the same piece
    for (auto const* job : {&std::as_const(first), &second}) {
      groups::written out;
      auto const r = skel::multi_host(ctx, 24, *job, std::ref(out), how).report;
      if (ctx.is_root()) test::say_losses(out.text == job->expected(24), r);
    }
  };
  return skel::run_main(argc, argv, skel::restartable(body));
}
