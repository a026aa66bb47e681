#include "sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

namespace components {

namespace {

// Measures the phases that do not occur in a run on one rank: one division, packing, combining.
// They are measured one after the other, as in [Hyper, §7]. An exchange has bytes but takes no
// time, because nothing is sent.
void measure_parts(skel::report& run, components_job const& job, edge_part const& graph, unsigned threads) {
  auto const sizes = job.measure(graph);
  auto const add = [&](char const* phase, int level, auto const& of, auto const& do_it) {
    auto const begin = std::chrono::steady_clock::now();
    do_it();
    double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    run.phases.push_back({phase, level, seconds, 0, of});
  };
  std::array<edge_part, 2> halves;
  add("divide", 0, sizes, [&] { halves = job.divide(graph); });
  std::array<roots, 2> solved;
  for (std::size_t i = 0; i < halves.size(); ++i)
    add("sequential", 1, job.measure(halves[i]), [&] { solved[i] = job.solve(halves[i], threads); });
  std::vector<std::byte> bytes;
  skel::pack(solved[1], bytes);
  run.phases.push_back({"exchange", 0, 0, bytes.size(), sizes});
  std::span<std::byte const> in(bytes);
  solved[1] = skel::unpack<roots>(in);
  add("combine", 0, sizes, [&] { solved[0] = job.combine(std::move(solved[0]), std::move(solved[1])); });
}

}  // namespace

swept sweep(skel::context& ctx, components_job job, skel::any_division const& kind,
            std::string const& samples, int repetitions) {
  swept last;
  bool first = true;
  // Written at the end: after the loss of the root, all sizes are measured again.
  std::vector<std::pair<skel::report, skel::observe::problem_size>> measured;
  auto const append = [&] {
    for (auto const& [run, sizes] : measured)
      skel::observe::append_sample(samples, "skel-components", run, sizes);
  };
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
            measured.emplace_back(last.run, sizes_of(job, last.edges));
          first = false;
          last = {connect(ctx, graph, job, kind).run, job.nodes, spec.edges};
          seconds.push_back(last.run.seconds);
          if (last.run.stopped_early) return append(), last;
          if (ctx.size() == 1 && kind.which() != skel::any_division::kind::embarrassing)
            measure_parts(last.run, job, graph, static_cast<unsigned>(last.run.threads_per_rank));
        }
        std::nth_element(seconds.begin(), seconds.begin() + repetitions / 2, seconds.end());
        if (ctx.is_root()) {
          fmt::print("{:>9} {:>9} {:>12.6f}\n", job.nodes, spec.edges,
                     seconds[static_cast<std::size_t>(repetitions) / 2]);
          std::fflush(stdout);
        }
      }
  append();
  return last;
}

}  // namespace components
