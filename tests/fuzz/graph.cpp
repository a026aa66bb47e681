// libFuzzer: any bytes in a file give a graph whose edges are among its nodes, or an error.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "fuzz.hpp"
#include "graph_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static int const file = memfd_create("graph", 0);
  static std::string const path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  fuzz::expect_error_or_result([&] {
    auto const g = components::read_graph(path, std::nullopt);
    for (auto const& e : std::span(g.edges.data(), g.edges.size()))
      if (e.u >= g.nodes || e.v >= g.nodes) std::abort();
  });
  return 0;
}
