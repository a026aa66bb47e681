// A job that takes the number of a unit as a short.
#include "skel/multi_host.hpp"

#ifdef SKEL_COMPILE_FAIL
using number = short;
#else
using number = int;
#endif

struct slices {
  using carried = int;
  using unit = int;
  using packet = int;
  using result = int;
  std::uint64_t read(number n, carried&, unit& into) const {
    into = n;
    return 1;
  }
  packet cut(unit const& from, std::uint64_t, std::uint64_t) const { return from; }
  result process(packet const& p, std::size_t) const { return p; }
};

void f(skel::context& ctx) {
  skel::multi_host(ctx, 3, slices{}, [](std::uint64_t, std::uint64_t, int) {});
}
