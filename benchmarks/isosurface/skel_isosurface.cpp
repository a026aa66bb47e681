// Our modeler alone on one core, on a volume in memory; isosurface.py compares it with VTK's Flying Edges:
//   skel-bench-isosurface field NAME:AxBxC OUT.raw          float32
//   skel-bench-isosurface surfaces NAME:AxBxC VALUES ORDER GRID LEVEL REPETITIONS
// NAME is a field of the program, or noise: smooth, and so uneven that a surface in its middle cuts most
// cells.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sstream>
#include <string>
#include <vector>

#include "clock.hpp"
#include "field.hpp"
#include "grid.hpp"
#include "model_surfaces.hpp"
#include "noise.hpp"
#include "skel/atomic_file.hpp"
#include "skel/skel.hpp"

using namespace isosurface;

namespace {

/// Provides slices from memory, as Flying Edges takes its samples.
class memory_volume final : public volume_data::volume_reader {
 public:
  explicit memory_volume(volume_data::grid const& grid) : volume_reader(grid.header), values_(grid.values) {}
  [[nodiscard]] bool skips_freely() const override { return true; }

 private:
  void fill(std::span<std::byte> next) override {
    std::memcpy(next.data(), values_.data() + position() * header().slice_bytes(), next.size());
  }
  void pass(std::size_t /*slices*/) override {}
  std::vector<std::byte> const& values_;
};

/// Noise is interpolated between random values that are three samples apart.
volume_data::grid volume_named(std::string const& name) {
  std::string const noise = "noise:";
  if (!name.starts_with(noise)) return volume_data::read_grid(*volume_data::open_field(name));
  auto volume = volume_data::read_grid(*volume_data::open_field("homogeneous:" + name.substr(noise.size())));
  auto const [nx, ny, nz] = volume.header.size;
  auto* to = volume.values.data();
  auto const at = [](std::size_t i) { return static_cast<double>(i) / 3; };
  for (std::size_t z = 0; z < nz; ++z)
    for (std::size_t y = 0; y < ny; ++y)
      for (std::size_t x = 0; x < nx; ++x, to += sizeof(float)) {
        auto const value = static_cast<float>(volume_data::value_noise(at(x), at(y), at(z), 1));
        std::memcpy(to, &value, sizeof value);
      }
  return volume;
}

surface_options parse(std::vector<std::string> const& words) {
  surface_options o;
  std::istringstream values(words[2]);
  for (std::string v; std::getline(values, v, ',');) o.values.push_back(std::stod(v));
  o.order = std::stoi(words[3]);
  o.step = static_cast<std::size_t>(std::stoul(words[4]));
  o.level = std::stoi(words[5]);
  return o;
}

void measure(skel::context& ctx, std::vector<std::string> const& words) {
  ctx.set_threads(1);
  auto const volume = volume_named(words[1]);
  auto const options = parse(words);
  skel::multi_host_options how;
  how.group_size = 1;
  for (int i = 0; i < std::stoi(words[6]); ++i) {
    double const begin = bench::seconds();
    auto const processor = std::clock();
    auto const m = model_surfaces(
        ctx, [&] { return std::make_unique<memory_volume>(volume); }, options, how);
    std::printf("seconds=%.6f processor=%.6f triangles=%zu vertices=%zu\n", bench::seconds() - begin,
                static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC, m.surfaces.triangles.size(),
                m.surfaces.positions.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    std::vector<std::string> const words(argv + 1, argv + argc);
    if (words.size() == 3 && words[0] == "field") {
      auto const volume = volume_named(words[1]);
      skel::atomic_file file(words[2]);
      file.write(std::span(volume.values));
      file.commit();
    } else if (words.size() == 7 && words[0] == "surfaces") {
      measure(ctx, words);
    } else {
      throw skel::usage_error(
          "expected: field NAME:AxBxC OUT.raw | surfaces NAME:AxBxC VALUES ORDER GRID LEVEL REPETITIONS");
    }
  });
}
