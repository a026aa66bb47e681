#include "cost_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "skel/atomic_file.hpp"

namespace isosurface {

namespace {

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class F>
double seconds_of(F const& f) {
  double const begin = thread_seconds();
  f();
  return thread_seconds() - begin;
}

constexpr int repetitions = 3;

std::vector<double> slice_seconds(open_function const& open) {
  std::vector<double> least;
  for (int i = 0; i < repetitions; ++i) {
    auto const volume = open();
    std::vector<float> slice(volume->header().slice_samples());
    for (std::size_t k = 0; k < volume->header().size[2]; ++k) {
      double const took = seconds_of([&] { volume->read(std::span(slice)); });
      if (i == 0) least.push_back(took);
      least[k] = std::min(least[k], took);
    }
  }
  return least;
}

}  // namespace

void trace_costs(std::string const& path, open_function const& open, surface_options options) {
  options.rows_per_piece = 1;
  node_grid const grid(open()->header(), options);
  modeler const job(grid, options, open);
  skel::atomic_file file(path);
  file.write("what,layer,row,seconds,bytes\n");
  auto const slices = slice_seconds(open);
  for (std::size_t k = 0; k < slices.size(); ++k)
    file.write(fmt::format("slice,{},,{:.9f},\n", k, slices[k]));
  modeler::carried carried;
  for (std::size_t layer = 0; layer < grid.layers(); ++layer) {
    modeler::unit unit;
    auto const rows = job.read(layer, carried, unit);
    for (std::uint64_t row = 0; row < rows; ++row) {
      double seconds = 0;
      std::vector<std::byte> bytes;
      for (int i = 0; i < repetitions; ++i) {
        modeler::result found;
        double const took = seconds_of([&] { found = job.process(job.cut(unit, row, 1), 0); });
        seconds = i == 0 ? took : std::min(seconds, took);
        if (i == 0) skel::pack(found, bytes);
      }
      file.write(fmt::format("row,{},{},{:.9f},{}\n", layer, row, seconds, bytes.size()));
    }
  }
  file.commit();
}

}  // namespace isosurface
