// A job without cut.
#include "skel/multi_host.hpp"

struct slices {
  using carried = int;
  using unit = int;
  using packet = int;
  using result = int;
  std::uint64_t read(std::uint64_t n, carried&, unit& into) const {
    into = static_cast<int>(n);
    return 1;
  }
#ifndef SKEL_COMPILE_FAIL
  packet cut(unit const&, std::uint64_t, std::uint64_t) const { return {}; }
#endif
  result process(packet const&, std::size_t) const { return 0; }
};

void f(skel::context& ctx) {
  skel::multi_host(ctx, 3, slices{}, [](std::uint64_t, std::uint64_t, int) {});
}
