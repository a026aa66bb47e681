// skel's volume renderer alone on one core, and the fields for it and VTK:
//   skel-bench-volume field NAME:AxBxC SPACING_OF_Z OUT.nrrd
//       writes 16 bits, 0 to 10,000 over the range of the field
//   skel-bench-volume render VOLUME SPEC.json REPETITIONS [IMAGE] [INSTRUCTIONS]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "clock.hpp"
#include "field.hpp"
#include "grid.hpp"
#include "image.hpp"
#include "renderer.hpp"
#include "skel/atomic_file.hpp"
#include "tiles.hpp"

using namespace volume;

namespace {

void write_field(std::string const& name, std::string const& spacing, std::string const& path) {
  auto const opened = volume_data::open_field(name);
  auto const values = volume_data::read_grid(*opened).floats();
  auto const [least, most] = std::ranges::minmax(values);
  std::vector<std::uint16_t> stored;
  stored.reserve(values.size());
  for (auto const v : values)
    stored.push_back(static_cast<std::uint16_t>(std::lround((v - least) / (most - least) * 10000)));
  auto const& n = opened->header().size;
  skel::atomic_file file(path);
  file.write("NRRD0004\ntype: uint16\ndimension: 3\nsizes: " + std::to_string(n[0]) + ' ' +
             std::to_string(n[1]) + ' ' + std::to_string(n[2]) + "\nspacings: 1 1 " + spacing +
             "\nendian: little\nencoding: raw\n\n");
  file.write(std::as_bytes(std::span(stored)));
  file.commit();
}

void render(std::string const& path, std::string const& spec_path, int repetitions, std::string const& output,
            std::string const& instructions) {
  auto const spec = read_specification(spec_path);
  auto const grid = volume_data::read_grid(path);
  double const start = bench::seconds();
  prepared_volume const volume(grid, spec);
  double const prepare = bench::seconds() - start;
  renderer const r(volume, spec, make_camera(spec, volume.low(), volume.sides(), spec.width, spec.height),
                   instructions);
  // Consecutive rays are neighbours that pass through the same cells, as in skel-volume.
  constexpr int neighbours = 1024;
  task_cutter const cut(spec.width, spec.height, task_cutter::decomposition::blocks, neighbours);
  picture::image picture(spec.width, spec.height);
  for (int i = 0; i < repetitions; ++i) {
    work_counts counts;
    double const begin = bench::seconds();
    for (std::uint64_t task = 0; task < cut.tasks(); ++task)
      cut.each_tile(task, [&](std::uint64_t tile) {
        auto const pixels = r.tile(tile, counts);
        r.tiling().each_pixel(tile, [&](int lane, int x, int y) {
          auto const& p = pixels[static_cast<std::size_t>(lane)];
          std::copy_n(&p.red, 3, picture.row(y).begin() + std::ptrdiff_t{3} * x);
        });
      });
    std::printf("render_seconds=%.6f prepare_seconds=%.6f cells=%llu segments=%llu memory_bytes=%zu\n",
                bench::seconds() - begin, prepare, static_cast<unsigned long long>(counts.cells),
                static_cast<unsigned long long>(counts.segments), volume.memory());
  }
  if (!output.empty()) write_image(output, picture);
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> const words(argv + 1, argv + argc);
  auto const word = [&](std::size_t i) { return i < words.size() ? words[i] : std::string(); };
  if (word(0) == "field" && words.size() == 4) {
    write_field(word(1), word(2), word(3));
  } else if (word(0) == "render" && words.size() >= 4) {
    render(word(1), word(2), std::atoi(word(3).c_str()), word(4), word(5));
  } else {
    std::fprintf(stderr,
                 "usage: %s field NAME:AxBxC SPACING OUT.nrrd | render VOLUME SPEC REPETITIONS [IMAGE] "
                 "[INSTRUCTIONS]\n",
                 argv[0]);
    return 2;
  }
  return 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
  return 2;
}
