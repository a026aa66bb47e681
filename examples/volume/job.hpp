// Renders one or several pictures of one volume on all ranks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grid.hpp"
#include "image.hpp"
#include "skel/farm.hpp"
#include "skel/model/machine.hpp"
#include "tiles.hpp"

namespace volume {

struct job {
  specification spec;
  int frames = 1;           ///< of a turntable
  int pixels_per_task = 0;  ///< 0: determined by find_task_size()
  task_cutter::decomposition decomposition = task_cutter::decomposition::scattered;
  bool time_rays = false;
  std::string instructions;  ///< name of the kernel; empty: the best available
};

struct job_result {
  skel::report run;
  std::vector<std::string> hashes;  ///< xxh3 of each picture's floats, in order
  work_counts counts;
  std::vector<ray_time> rays;
  std::size_t grid_memory = 0;                     ///< the most bytes of slabs on a rank; 0: the whole grid
  std::vector<double> task_seconds;                ///< seconds of each task; empty with slabs
  double waited_seconds = 0, loading_seconds = 0;  ///< for slabs, see prefetch
};

/// Receives each complete picture on the root: its number, its view, and the image object. Pixels of
/// tasks that the farm left out have picture::missing_colour.
using picture_sink = std::function<void(int, camera const&, picture::transparent_image const&)>;

/// Determines pixels_per_task with the cost model (task_size.hpp), from the time of a pixel on the
/// root and the cost of messages on this machine. Returns the same value on every rank, or nothing
/// if the job was stopped early. Collective, in a context beside `ctx`.
[[nodiscard]] std::optional<int> find_task_size(skel::context& ctx, prepared_volume const& volume,
                                                job const& what, skel::model::machine_at const& where);

/// Collective. Every rank has the volume; only task numbers and sub-images are sent.
[[nodiscard]] job_result render(skel::context& ctx, prepared_volume const& volume, job const& what,
                                skel::any_schedule const& schedule, skel::farm_options options,
                                picture_sink const& done);

}  // namespace volume
