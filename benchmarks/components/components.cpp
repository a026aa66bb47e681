// Measures methods on one graph, in one process: `skel-bench-components METHOD GRAPH REPETITIONS`.
// METHOD is a comma-separated list of union-find, afforest:THREADS, skel:THREADS and dfs; the
// methods take turns.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "clock.hpp"
#include "generate.hpp"
#include "job.hpp"
#include "peers.hpp"
#include "skel/hash.hpp"

namespace {

using namespace components;

struct method {
  std::string name;
  unsigned threads;
};

std::vector<method> parse_methods(std::string text) {
  std::vector<method> all;
  for (auto* word = std::strtok(text.data(), ","); word != nullptr; word = std::strtok(nullptr, ",")) {
    auto* const colon = std::strchr(word, ':');
    auto const threads = colon == nullptr ? 1U : static_cast<unsigned>(std::strtoul(colon + 1, nullptr, 10));
    all.push_back({colon == nullptr ? std::string(word) : std::string(word, colon), threads});
  }
  return all;
}

roots once(method const& how, edge_part const& graph, std::uint64_t nodes) {
  components_job job{.nodes = nodes};
  if (how.name == "skel" || how.name == "dfs") {
    if (how.name == "dfs") job.local = local_method::dfs;
    return job.solve(graph, how.threads);
  }
  big_array<node> label(nodes);
  std::span<node> const all(label.data(), label.size());
  auto const edges = graph.edges();
  if (how.name == "union-find")
    peers::union_find(edges.span(), all);
  else if (how.name == "afforest")
    peers::afforest(edges.span(), all, how.threads);
  else
    throw std::invalid_argument("unknown method " + how.name);
  return {std::move(label), exchange::cheapest};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 4) throw std::invalid_argument("expected METHODS GRAPH REPETITIONS");
    auto const spec = parse_graph(argv[2]);
    big_array<edge> edges(spec.edges);
    generate(spec, 0, {edges.data(), edges.size()});
    edge_part const graph(std::move(edges));
    for (int i = std::atoi(argv[3]); i > 0; --i)
      for (auto const& how : parse_methods(argv[1])) {
        double const begin = bench::seconds(), cpu = bench::processor_seconds();
        auto found = once(how, graph, spec.nodes);
        double const seconds = bench::seconds() - begin, busy = bench::processor_seconds() - cpu;
        auto const hash = skel::xxh3_hex(std::as_bytes(found.labels()));
        std::printf("method=%s:%u seconds=%.6f cpu=%.6f xxh3=%s\n", how.name.c_str(), how.threads, seconds,
                    busy, hash.c_str());
      }
  } catch (std::exception const& e) {
    std::fprintf(stderr, "skel-bench-components: %s\n", e.what());
    return 2;
  }
}
