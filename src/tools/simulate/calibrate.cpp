// Runs the cost model's micro-benchmarks on a simulated cluster.
#include "tools/calibration/calibrate.hpp"

#include "skel/atomic_file.hpp"
#include "tools/simulate/simulation.hpp"

namespace skel::simulate {

void calibrate(context& ctx, options const& o) {
  auto m = model::calibrate(ctx);
  m.name = o.cluster.platform;
  if (ctx.is_root()) skel::write_file_atomically(o.machine, m.to_json());
}

}  // namespace skel::simulate
