// skel-components: connected components by hypercube divide and conquer, the case study of [Hyper,
// §6].
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

#include "file_parts.hpp"
#include "graph_file.hpp"
#include "job.hpp"
#include "program/failure.hpp"
#include "program/paths.hpp"
#include "program/run_program.hpp"
#include "search.hpp"
#include "skel/hash.hpp"
#include "skel/skel.hpp"
#include "sweep.hpp"
#include "union_find.hpp"

namespace {

using namespace components;

struct options {
  std::string file, formula;
  std::optional<std::uint64_t> nodes;
  bool sweep = false, compare_one_core = false;
  std::string kind = "hypercube", local = "union-find", exchange = "cheapest", write_graph;
};

void add_options(CLI::App& app, options& o) {
  using namespace skel::program;
  app.add_option("GRAPH", o.file,
                 "an edge list (SNAP, .el), Matrix Market, GAPBS's .sg or .skel-edges; gzipped or not");
  option(app, "--generate SPEC", o.formula,
         "or: uniform:n=,m=,seed=, kronecker:scale=,degree=,seed=, grid:width=,height=,seed=");
  option(app, "--nodes N", o.nodes, "number of nodes, if the file does not state it",
         CLI::Range(std::uint64_t{1}, most_nodes));
  app.add_flag("--sweep", o.sweep, "run a grid of small sizes; with --samples, skel-model can fit them");
  option(app, "--write-graph FILE.skel-edges", o.write_graph, "also write the graph in binary form");
  auto const choice = [&](std::string const& name, std::string& value, std::vector<std::string> const& known,
                          std::string const& text) {
    return app.add_option(name, value, text)
        ->type_name(fmt::format("{}", fmt::join(known, "|")))
        ->capture_default_str()
        ->check(CLI::IsMember(known))
        ->group("Parallel run");
  };
  choice("--kind", o.kind, {"hypercube", "tree", "embarrassing"}, "how ranks divide and combine")
      ->transform(
          [](std::string const& kind) {  // before the check, so that the fourth kind is refused with a reason
            if (kind == "distributed") refuse_parts(skel::any_division(kind));
            return kind;
          });
  choice("--local", o.local, {"union-find", "dfs"},
         "method of one rank: union-find, or adjacency list and depth-first search");
  choice("--exchange", o.exchange, {"cheapest", "dense"},
         "form of exchanged labels: short and exact, or the vector of all roots");
  app.add_flag("--compare-one-core", o.compare_one_core,
               "then solve the whole graph again on one core of the root, and print its time")
      ->group("Parallel run");
}

// The graph, of which this rank holds the part that it will solve.
edge_part read_or_generate(skel::context& ctx, options const& o, skel::any_division const& kind,
                           components_job& job) {
  if (!o.formula.empty()) {
    auto const spec = parse_graph(o.formula);
    job.nodes = at_least(spec.nodes, o.nodes, "--generate");
    auto const share = spec.edges / static_cast<std::uint64_t>(ctx.size());
    require_memory(share * sizeof(edge) + job.nodes * sizeof(node), "--generate: edges and labels");
    return generated_graph(spec, job, kind, ctx.rank(), ctx.size());
  }
  auto read = read_distributed(ctx, o.file, o.nodes, kind);
  job.nodes = read.nodes;
  return std::move(read.edges);
}

// The best time of a single core, for --compare-one-core. For short times the minimum
// of three runs is used, because touching new memory may take longer than the labels.
double seconds_of_one_core(edge_part const& graph, std::uint64_t nodes) {
  constexpr double is_short = 0.1;
  auto const edges = graph.edges();
  big_array<node> labels(nodes);
  auto const once = [&] {
    auto const begin = std::chrono::steady_clock::now();
    label_components(edges.span(), {labels.data(), labels.size()}, 1);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  auto const first = once();
  return first > is_short ? first : std::min({first, once(), once()});
}

skel::program::run_outcome finish(skel::program::common_options const& common, options const& o,
                                  components_job const& job, edge_part const& graph, connected result) {
  auto const labels = result.labels.labels();
  if (common.verify)
    if (auto const fault = find_fault(graph.edges().span(), labels))
      throw skel::program::verification_error("verification failed: " + *fault);
  if (!common.output.empty()) write_labels(common.output, labels);
  auto const components = count_components(labels);
  std::string summary =
      fmt::format("{} components of {} nodes and {} edges\n", components, labels.size(), graph.size());
  skel::program::run_outcome outcome;
  outcome.fields = {{"nodes", labels.size()}, {"edges", graph.size()}, {"components", components}};
  if (common.verify)
    outcome.verified =
        fmt::format("{} labels, by a breadth-first search of {} edges", labels.size(), graph.size());
  if (o.compare_one_core || result.run.ranks * result.run.threads_per_rank > 1) {
    summary += fmt::format("{:.6f} s on ranks x threads = {} x {}, {} bytes sent", result.run.seconds,
                           result.run.ranks, result.run.threads_per_rank, result.run.bytes);
    if (o.compare_one_core) {
      auto const alone = seconds_of_one_core(graph, labels.size());
      summary += fmt::format("; one core needs {:.6f} s", alone);
      outcome.fields.emplace_back("one_core_seconds", alone);
    }
    summary += '\n';
  }
  if (!common.quiet) fmt::print("{}", summary);
  outcome.run = std::move(result.run);
  outcome.result_xxh3 = skel::xxh3_hex(std::as_bytes(labels));
  outcome.problem = sizes_of(job, graph.size());
  return outcome;
}

skel::program::run_outcome run(skel::context& ctx, skel::program::common_options const& common,
                               options const& o) {
  components_job job;
  job.local = o.local == "dfs" ? local_method::dfs : local_method::union_find;
  job.how = o.exchange == "dense" ? exchange::dense : exchange::cheapest;
  if (!common.output.empty()) skel::program::require_ending(common.output, {".txt", ".bin"});
  if (!o.write_graph.empty()) skel::program::require_ending(o.write_graph, {".skel-edges"});
  if (int const given = int{o.sweep} + int{!o.file.empty()} + int{!o.formula.empty()}; given != 1)
    throw skel::usage_error("expected one graph: a file, or --generate with a formula, or --sweep");
  if (o.sweep &&
      (common.verify || !common.output.empty() || !o.write_graph.empty() || o.nodes || o.compare_one_core))
    throw skel::usage_error(
        "--sweep: expected no -o, --verify, --write-graph, --nodes or --compare-one-core");
  skel::any_division const kind(o.kind);
  if (o.sweep) {
    if (ctx.is_root() && ctx.size() == 1)
      fmt::print(stderr,
                 "skel-components: one rank cannot measure the cost of messages; use skel-model "
                 "calibrate, or --sweep with at least two ranks\n");
    constexpr int repetitions = 5;
    auto const last = sweep(ctx, job, kind, common.files.samples, repetitions);
    job.nodes = last.nodes;
    return {last.run, {}, {}, sizes_of(job, last.edges)};
  }
  auto const graph = read_or_generate(ctx, o, kind, job);
  // Starts when the slowest rank has its edges, so that the call is measured without reading.
  if (ctx.size() > 1) static_cast<void>(skel::broadcast(ctx, skel::on_root([] { return true; })));
  auto result = connect(ctx, graph, job, kind);
  if (!ctx.is_root() || result.run.stopped_early) return {result.run, {}, {}, {}};
  if (!o.write_graph.empty())
    write_edges(
        o.write_graph, [&](edge_sink const& sink) { graph.stream(sink); }, job.nodes);
  return finish(common, o, job, graph, std::move(result));
}

}  // namespace

int main(int argc, char** argv) {
  return skel::program::run_program(
      argc, argv,
      {.name = "skel-components",
       .description = "Finds the connected components of a graph, on all ranks.",
       .options = skel::program::option_set::no_farm,
       .outputs = {"--write-graph"},
       .may_differ = {"GRAPH"},
       .formats = ".txt or .bin"},
      add_options, run);
}
