// libFuzzer: any bytes give links among the existing nodes, or a protocol_error; all kernels agree.
#include "labels.hpp"

#include <cstdlib>
#include <optional>
#include <vector>

#include "fuzz.hpp"
#include "skel/error.hpp"
#include "union_find.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0) return 0;
  std::uint64_t const nodes = data[0] * 41U;  // exceeds a block of the short form
  fuzz::input const input{data + 1, size - 1};
  std::optional<bool> refused;
  for (auto const& kernel : components::label_kernels()) {
    std::vector<components::node> parent(nodes);
    components::make_singletons(parent);
    bool thrown = false;
    try {
      components::join(input.bytes(), parent, kernel);
    } catch (skel::protocol_error const&) {
      thrown = true;
    }
    if (refused.value_or(thrown) != thrown) std::abort();
    refused = thrown;
    for (std::size_t x = 0; x < nodes; ++x)
      if (parent[x] > x) std::abort();
  }
  return 0;
}
