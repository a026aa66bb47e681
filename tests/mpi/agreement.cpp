// Compares values that must be the same on all ranks: context::require_same over MPI.
#include <string>
#include <vector>

#include "check.hpp"
#include "skel/skel.hpp"

namespace {

using test::check_equal;

void run(skel::context& ctx) {
  std::vector<std::byte> input(100'000, std::byte{7});
  ctx.require_same("input", input);
  int const last = ctx.size() - 1;
  for (int differs = 1; differs <= last; ++differs) {
    if (ctx.rank() >= differs) input.back() = static_cast<std::byte>(100 + ctx.rank());
    auto const e =
        test::thrown_by<skel::usage_error>([&] { ctx.require_same("input", input); }, "another input");
    check_equal(e.what(),
                "input of rank " + std::to_string(differs) +
                    " differs from rank 0's: it must be the same on all ranks",
                "text");
    input.back() = std::byte{7};
  }
  ctx.require_same("input", input);
}

}  // namespace

int main(int argc, char** argv) { return skel::run_main(argc, argv, run); }
