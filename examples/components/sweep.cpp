#include "sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace skel::components {

swept sweep(context& ctx, components_job job, any_division const& kind, std::string const& samples,
            int repetitions) {
  swept last;
  bool first = true;
  if (ctx.is_root()) fmt::print("{:>9} {:>9} {:>12} s\n", "nodes", "edges", "median");
  for (std::uint64_t const scale : {1, 64})
    for (std::uint64_t const n : {4000, 8000, 16000, 32000})
      for (std::uint64_t const m : {4000, 8000, 16000, 32000}) {
        job.nodes = n * scale;
        graph_spec const spec{.kind = graph_kind::uniform, .nodes = job.nodes, .edges = m * scale, .seed = 1};
        auto const graph = generated_graph(spec, job, kind, ctx.rank(), ctx.size());
        std::vector<double> seconds;
        for (int i = 0; i < repetitions; ++i) {
          if (!first && ctx.is_root() && !samples.empty())
            observe::append_sample(samples, "skel-components", last.run, sizes_of(job, last.edges));
          first = false;
          last = {connect(ctx, graph, job, kind).run, job.nodes, spec.edges};
          seconds.push_back(last.run.seconds);
          if (last.run.stopped_early) return last;
        }
        std::nth_element(seconds.begin(), seconds.begin() + repetitions / 2, seconds.end());
        if (ctx.is_root()) {
          fmt::print("{:>9} {:>9} {:>12.6f}\n", job.nodes, spec.edges,
                     seconds[static_cast<std::size_t>(repetitions) / 2]);
          std::fflush(stdout);
        }
      }
  return last;
}

}  // namespace skel::components
