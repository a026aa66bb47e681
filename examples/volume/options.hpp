// The options of skel-volume.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "loading.hpp"
#include "skel/model/machine.hpp"
#include "specification.hpp"

namespace volume {

/// How the pictures are cut into tasks, and what is measured of them.
struct task_options {
  int pixels = 0;  ///< per task; 0: determined by the cost model
  std::string decomposition = "scattered";
  std::string machine;  ///< file for the size of tasks; empty: assumed costs
  std::string unit_costs;
  bool ray_statistics = false;
};

/// The parts of the grid that a rank holds.
struct part_options {
  std::string read_by = "root";
  /// 0: the whole grid, or as many as `memory` requires; slab_for_each_rank: one for each rank, which keeps
  /// it.
  int slabs = 0;
  static constexpr int slab_for_each_rank = -1;
  int memory = 0;  ///< MiB per rank for the grid; 0: no limit
};

struct options {
  std::string file, field, spec, size, background;
  std::vector<std::string> series;
  volume_data::volume_choice choice;  ///< of each file
  bool list = false;                  ///< print the variables of the file, render nothing
  int steps = 1;                      ///< number of hours of a field, or of times of a file
  int frames = 1;                     ///< number of pictures of a turntable
  task_options tasks;
  part_options parts;
  std::string instructions;
  std::string session;  ///< "-" (standard input) or a file of commands; empty: no session

  /// The specification with the size and background of the command line. Throws usage_error as
  /// parse_specification().
  [[nodiscard]] specification rendering() const;
  /// The specification without --spec, as JSON: the storm's, or empty.
  [[nodiscard]] std::string default_specification() const;
  struct volume {
    std::string name;
    opener open;
  };
  /// The volumes: one, a time series, or none in a session whose commands name it. Throws usage_error for
  /// conflicting options.
  [[nodiscard]] std::vector<volume> volumes() const;
  /// The cost of messages, from the file given with --machine or assumed. Throws usage_error if the
  /// file is invalid.
  [[nodiscard]] skel::model::machine messages() const;
  [[nodiscard]] grid_source source() const {
    return parts.read_by == "root" ? grid_source::root : grid_source::all;
  }
};

void add_options(CLI::App& app, options& o);

}  // namespace volume
