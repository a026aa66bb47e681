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

using row_seconds = std::vector<double>;

/// Reads a layer as a host does; keeps the least time until each row was ready, after the one before.
void trace_reading(modeler const& job, std::size_t layer, modeler::carried& carried, modeler::unit& unit,
                   row_seconds& least) {
  row_seconds took;
  double begin = thread_seconds();
  auto const ready = [&](std::uint64_t) {
    double const end = thread_seconds();
    took.push_back(end - begin);
    begin = end;
  };
  ready(job.read(layer, carried, unit, ready));
  if (least.empty()) least = took;
  for (std::size_t row = 0; row < took.size(); ++row) least[row] = std::min(least[row], took[row]);
}

/// For each layer: of a share that begins with it, or of one that began with the first layer.
std::vector<row_seconds> trace_reading(modeler const& job, std::size_t layers, bool first) {
  std::vector<row_seconds> least(layers);
  for (int i = 0; i < repetitions; ++i) {
    modeler::carried carried;
    for (std::size_t layer = 0; layer < layers; ++layer) {
      if (first) carried = {};
      modeler::unit unit;
      trace_reading(job, layer, carried, unit, least[layer]);
    }
  }
  return least;
}

}  // namespace

void trace_costs(std::string const& path, open_function const& open, surface_options const& options) {
  auto single_rows = options;
  single_rows.rows_per_piece = 1;
  node_grid const grid(open()->header(), single_rows);
  modeler const job(grid, single_rows, open);
  skel::atomic_file file(path);
  file.write("what,layer,row,seconds,bytes\n");
  auto const first = trace_reading(job, grid.layers(), true), next = trace_reading(job, grid.layers(), false);
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
      file.write(fmt::format("first,{0},{1},{2:.9f},\nnext,{0},{1},{3:.9f},\nrow,{0},{1},{4:.9f},{5}\n",
                             layer, row, first[layer][row], next[layer][row], seconds, bytes.size()));
    }
    for (std::uint64_t last = 0; last < std::min<std::uint64_t>(rows, 2); ++last) {
      std::vector<std::byte> bytes;
      skel::pack(job.cut(unit, (rows - last - 1) / 2, last + 1), bytes);  // in the middle
      file.write(fmt::format("packet,{},{},,{}\n", layer, last, bytes.size()));
    }
  }
  file.commit();
}

}  // namespace isosurface
