// A stream of ten million tasks on the root: they travel, and none is kept.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <ranges>
#include <string>

#include "mpi/check.hpp"
#include "skel/skel.hpp"

namespace {

using test::check;
using test::check_equal;

// Largest resident set of this process so far, in KiB.
std::uint64_t peak() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6));
  return 0;
}

void sum(skel::context& ctx, std::uint64_t tasks, skel::root_role role) {
  std::uint64_t total = 0;
  skel::farm(
      ctx, skel::on_root([&] { return std::views::iota(std::uint64_t{0}, tasks); }),
      [](std::uint64_t i) { return 2 * i; }, skel::schedule::guided{},
      [&](std::uint64_t, std::uint64_t&& doubled) { total += doubled; }, {.root = role});
  if (ctx.is_root()) check_equal(total, tasks * (tasks - 1), "sum of all results");
}

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    for (auto const role : {skel::root_role::works, skel::root_role::serves}) {
      sum(ctx, 200'000, role);
      auto const before = peak();
      sum(ctx, 10'000'000, role);
      // Ten million results of 8 bytes would be 80 MB.
      check(peak() < before + 16 * 1024,
            "peak memory grew from " + std::to_string(before) + " to " + std::to_string(peak()) + " KiB");
    }
  });
}
