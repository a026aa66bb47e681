// The connected components of a graph whose edges are spread over the ranks: a square of pixels, of
// which some are land. Neighbours on land are connected, so components are islands.
//     mpiexec -n 4 labels
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <skel/applications/label_edges.hpp>
#include <skel/skel.hpp>
#include <vector>

constexpr std::uint32_t side = 400;

bool land(std::uint32_t x, std::uint32_t y) {
  return std::sin(0.05 * x) + std::sin(0.07 * y) + std::sin(0.03 * (x + y)) > 0.8;
}

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    std::vector<std::array<std::uint32_t, 2>> edges;  // of this rank's rows
    for (auto y = static_cast<std::uint32_t>(ctx.rank()); y < side;
         y += static_cast<std::uint32_t>(ctx.size()))
      for (std::uint32_t x = 0; x < side; ++x) {
        if (!land(x, y)) continue;
        if (x + 1 < side && land(x + 1, y)) edges.push_back({y * side + x, y * side + x + 1});
        if (y + 1 < side && land(x, y + 1)) edges.push_back({y * side + x, (y + 1) * side + x});
      }
    auto const found = components::label_edges(ctx, edges, std::uint64_t{side} * side);
    if (!ctx.is_root()) return;
    std::map<std::uint32_t, int> pixels;
    for (std::uint32_t n = 0; n < side * side; ++n)
      if (land(n % side, n / side)) ++pixels[found.labels[n]];
    int largest = 0;
    for (auto const& [island, size] : pixels) largest = std::max(largest, size);
    std::printf("%zu islands, the largest of %d pixels\n", pixels.size(), largest);
  });
}
