// One volume, one or several pictures of it, over all ranks.
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
  int pixels_per_task = 0;  ///< 0: to be found
  task_cutter::decomposition decomposition = task_cutter::decomposition::scattered;
  bool time_rays = false;
  std::string instructions;  ///< of the kernel; empty: the best there is
};

struct job_result {
  skel::report run;
  std::vector<std::string> hashes;  ///< xxh3 of each picture's floats, in their order
  work_counts counts;
  std::vector<ray_time> rays;
  std::vector<double> task_seconds;                ///< of each task; none with slabs
  double waited_seconds = 0, loading_seconds = 0;  ///< for slabs, see prefetch
};

/// Given each picture as it is complete, on the root: its number, its view, and the image object.
using picture_sink = std::function<void(int, camera const&, picture::transparent_image const&)>;

/// Collective: pixels_per_task by the cost model (task_size.hpp), from what a pixel takes on the root now and
/// from what messages cost on this machine. The same on every rank; nothing if the job was stopped early.
/// Makes a call beside those of the context.
[[nodiscard]] std::optional<int> find_task_size(skel::context& ctx, prepared_volume const& volume,
                                                job const& what, skel::model::machine_at const& where);

/// Collective. Every rank has the volume; tasks are numbers, and only sub-images travel.
[[nodiscard]] job_result render(skel::context& ctx, prepared_volume const& volume, job const& what,
                                skel::any_schedule const& schedule, skel::farm_options options,
                                picture_sink const& done);

}  // namespace volume
