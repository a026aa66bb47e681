// A read into a copy of the unit: the data would be lost.
#include "skel/multi_host.hpp"

#ifdef SKEL_COMPILE_FAIL
using argument = int;
#else
using argument = int&;
#endif

struct slices {
  using carried = int;
  using unit = int;
  using packet = int;
  using result = int;
  std::uint64_t read(std::uint64_t n, carried&, argument into) const {
    into = static_cast<int>(n);
    return 1;
  }
  packet cut(unit const&, std::uint64_t, std::uint64_t) const { return {}; }
  result process(packet const&, std::size_t) const { return 0; }
};

void f(skel::context& ctx) {
  skel::multi_host(ctx, 3, slices{}, [](std::uint64_t, std::uint64_t, int) {});
}
