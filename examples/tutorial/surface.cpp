// The surface of two balls that melt into each other, from values in memory, with the volume inside.
//     mpiexec -n 4 surface
#include <array>
#include <cmath>
#include <cstdio>
#include <skel/applications/make_mesh.hpp>
#include <skel/skel.hpp>
#include <vector>

constexpr std::size_t n = 65;

float field(double x, double y, double z) {  // on [-1, 1]^3
  auto const ball = [&](double centre) {
    return std::exp(-8 * ((x - centre) * (x - centre) + y * y + z * z));
  };
  return static_cast<float>(ball(-0.3) + ball(0.3));
}

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    std::vector<double> at(n);
    for (std::size_t i = 0; i < n; ++i) at[i] = -1 + 2.0 * static_cast<double>(i) / (n - 1);
    std::vector<float> values;  // every rank computes the same
    for (double const z : at)
      for (double const y : at)
        for (double const x : at) values.push_back(field(x, y, z));
    auto const found = isosurface::make_mesh(ctx, {values, {n, n, n}, {at, at, at}}, 0.5);
    if (!ctx.is_root()) return;
    double volume = 0;  // of the tetrahedra between the triangles and the origin
    for (auto const& [a, b, c] : found.triangles) {
      auto const &p = found.positions[a], &q = found.positions[b], &r = found.positions[c];
      volume += (p[0] * (double{q[1]} * r[2] - double{q[2]} * r[1]) +
                 p[1] * (double{q[2]} * r[0] - double{q[0]} * r[2]) +
                 p[2] * (double{q[0]} * r[1] - double{q[1]} * r[0])) /
                6;
    }
    std::printf("%zu positions, %zu triangles, volume %.4f\n", found.positions.size(), found.triangles.size(),
                volume);
  });
}
