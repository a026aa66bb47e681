// A multi_host call with a piece or a unit that kills each rank that takes it: deadly_losses WHERE SIZE
// AFTERWARDS. WHERE: process or read. AFTERWARDS: escape, or next for a second call by the survivors.
// deadly_losses_test.cpp starts it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "mpi/deaths.hpp"
#include "skel/skel.hpp"
#include "slices.hpp"

namespace {

using namespace std::chrono_literals;
constexpr std::uint64_t deadly_unit = 19, deadly_piece = 1, units = 24;

struct deadly_slices : groups::slices {
  std::string where{};
  std::uint64_t deadly_row = 0;

  std::uint64_t read(std::uint64_t number, carried& c, unit& into) const {
    if (where == "read" && number == deadly_unit) test::crash();
    return slices::read(number, c, into);
  }
  [[nodiscard]] result process(packet const& p, std::size_t i) const {
    if (where == "process" && p.rows.at(i) == deadly_row) test::crash();
    return slices::process(p, i);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    deadly_slices first;
    first.where = argv[1];
    first.deadly_row = first.row(deadly_unit, deadly_piece);
    first.read_time = 1ms;
    first.process_time = 2ms;
    skel::multi_host_options how;
    how.group_size = static_cast<unsigned>(std::atoi(argv[2]));
    how.measures.reassign = false;  // keeps the root from helping, so that it is not the first to die
    auto const run = [&](groups::slices const& what, auto const& job) {
      groups::written out;
      auto const r = skel::multi_host(ctx, units, job, std::ref(out), how).report;
      if (ctx.is_root()) test::say_losses(out.text == what.expected(units), r);
    };
    if (std::string(argv[3]) == "escape") return run(first, first);
    try {
      run(first, first);
    } catch (skel::task_error const& e) {
      std::printf("task %llu\n", static_cast<unsigned long long>(e.task()));
      std::fflush(stdout);
    }
    run(groups::slices{}, groups::slices{});
  });
}
