// libFuzzer: any bytes are links among the nodes there are, or a protocol_error.
#include <cstdlib>

#include "fuzz.hpp"
#include "label_encoding.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0) return 0;
  std::uint64_t const nodes = data[0] * 5U;
  fuzz::expect_error_or_result([&] {
    skel::components::decode(fuzz::input{data + 1, size - 1}.bytes(), nodes, [&](auto links) {
      for (auto const& e : links)
        if (e.u >= nodes || e.v >= nodes) std::abort();
    });
  });
  return 0;
}
