// The options of skel-volume.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "loading.hpp"
#include "skel/model/machine.hpp"
#include "specification.hpp"

namespace volume {

struct options {
  std::string file, field, spec, size, background;
  std::vector<std::string> series;
  int steps = 1;   ///< of a field that changes with time
  int frames = 1;  ///< of a turntable
  int pixels = 0;  ///< of a task; 0: found
  std::string decomposition = "scattered";
  std::string grid = "root";
  std::string instructions;
  std::string machine;  ///< what messages cost, for the size of tasks; empty: assumed
  int slabs = 0;        ///< 0: the whole grid, or as many as memory asks for
  int memory = 0;       ///< MiB of a rank for the grid; 0: what it takes
  std::string unit_costs;
  bool ray_statistics = false;

  /// With what the command line says of size and background. usage_error as parse_specification.
  [[nodiscard]] specification rendering() const;
  /// The volumes, by name: one, or a time series. usage_error for choices that exclude each other.
  [[nodiscard]] std::vector<std::string> names() const;
  /// The same, to be opened.
  [[nodiscard]] std::vector<opener> volumes() const;
  /// The cost of messages, from the file given with --machine or assumed. Throws usage_error for a
  /// file that is none.
  [[nodiscard]] skel::model::machine messages() const;
  [[nodiscard]] grid_source source() const { return grid == "root" ? grid_source::root : grid_source::all; }
};

void add_options(CLI::App& app, options& o);

}  // namespace volume
