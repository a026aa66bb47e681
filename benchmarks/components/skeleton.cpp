// Runs the skeleton repeatedly on any number of ranks: `skel-bench-components-skeleton GRAPH
// REPETITIONS [dense]`. As in skel-bench-components-ranks, each rank has its part of the edges in
// memory. Before each run rank 0 also measures the time that it needs alone for all edges.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "clock.hpp"
#include "job.hpp"
#include "skel/hash.hpp"
#include "skel/skel.hpp"

namespace {

using namespace components;

void run(skel::context& ctx, graph_spec const& spec, int repetitions, exchange how) {
  components_job const job{.nodes = spec.nodes, .how = how};
  skel::any_division const kind("hypercube");
  auto const graph = generated_graph(spec, job, kind, ctx.rank(), ctx.size());
  big_array<edge> all(ctx.is_root() ? spec.edges : 0);
  generate(spec, 0, {all.data(), all.size()});
  edge_part const whole(std::move(all));
  for (int i = repetitions; i > 0; --i) {
    double alone = 0;
    if (ctx.is_root()) {
      double const begin = bench::seconds();
      auto const labels = job.solve(whole);
      alone = bench::seconds() - begin;
    }
    static_cast<void>(skel::broadcast(ctx, skel::on_root([] { return true; })));  // all ranks start together
    auto found = connect(ctx, graph, job, kind);
    if (!ctx.is_root()) continue;
    auto const hash = skel::xxh3_hex(std::as_bytes(found.labels.labels()));
    std::printf("ranks=%d seconds=%.6f alone=%.6f bytes=%llu xxh3=%s", ctx.size(), found.run.seconds, alone,
                static_cast<unsigned long long>(found.run.bytes), hash.c_str());
    for (auto const& phase : found.run.phases)
      std::printf(" %s%d=%.6f", phase.phase.c_str(), phase.level, phase.seconds);
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (argc < 3) throw skel::usage_error("expected GRAPH REPETITIONS");
    bool const dense = argc > 3 && std::strcmp(argv[3], "dense") == 0;
    ctx.set_threads(1);
    run(ctx, parse_graph(argv[1]), std::atoi(argv[2]), dense ? exchange::dense : exchange::cheapest);
  });
}
