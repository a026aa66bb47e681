// libFuzzer: any bytes are links among the nodes there are, or a protocol_error; every kernel says the same.
#include <cstdlib>
#include <numeric>
#include <vector>

#include "fuzz.hpp"
#include "label_encoding.hpp"
#include "label_kernel.hpp"
#include "skel/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0) return 0;
  std::uint64_t const nodes = data[0] * 5U;
  fuzz::input const input{data + 1, size - 1};
  bool refused = true;
  fuzz::expect_error_or_result([&] {
    skel::components::decode(input.bytes(), nodes, [&](auto links) {
      for (auto const& e : links)
        if (e.u >= nodes || e.v >= nodes) std::abort();
    });
    refused = false;
  });
  for (auto const* kernel : skel::components::label_kernels()) {
    std::vector<skel::components::node> parent(nodes);
    std::iota(parent.begin(), parent.end(), skel::components::node{0});
    try {
      kernel->join(input.bytes(), parent);
      if (refused) std::abort();
    } catch (skel::protocol_error const&) {
      if (!refused) std::abort();
    }
    for (std::size_t x = 0; x < nodes; ++x)
      if (parent[x] > x) std::abort();
  }
  return 0;
}
