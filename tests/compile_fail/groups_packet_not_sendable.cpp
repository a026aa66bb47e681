// A packet with a member that cannot be sent.
#include <memory>

#include "skel/multi_host.hpp"

#ifdef SKEL_COMPILE_FAIL
using rows = std::shared_ptr<int>;
#else
using rows = int;
#endif

struct slices {
  using carried = int;
  using unit = int;
  using packet = rows;
  using result = int;
  std::uint64_t read(std::uint64_t n, carried&, unit& into) const {
    into = static_cast<int>(n);
    return 1;
  }
  packet cut(unit const&, std::uint64_t, std::uint64_t) const { return {}; }
  result process(packet const&, std::size_t) const { return 0; }
};

void f(skel::context& ctx) {
  skel::multi_host(ctx, 3, slices{}, [](std::uint64_t, std::uint64_t, int) {});
}
