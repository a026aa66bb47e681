// skel-search: tree search by work stealing on a ring [Lee97, §3]: UTS trees and N queens.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "jobs.hpp"
#include "program/failure.hpp"
#include "program/paths.hpp"
#include "program/run_program.hpp"
#include "sequential.hpp"
#include "skel/atomic_file.hpp"
#include "skel/hash.hpp"
#include "skel/skel.hpp"

namespace {

using namespace search;

struct options {
  std::string tree;
  std::optional<unsigned> queens;
  std::string take = "half";
  std::string order = "doubling";
};

void add_options(CLI::App& app, options& o) {
  using namespace skel::program;
  option(app, "--tree NAME", o.tree,
         "tree of the UTS benchmark: T1, T2, T3, T4, T5 (4 million nodes each), T1L, T3L (100 million), or "
         "geometric, binomial, hybrid with UTS's parameters: geometric:shape=fixed,d=10,b=4,r=19");
  option(app, "--queens N", o.queens, "count placements of N queens on an N x N board",
         CLI::Range(1U, most_queens));
  option(app, "--take one|half", o.take, "tasks given to a thief: one, or half of the waiting tasks",
         shown_default, CLI::IsMember({"one", "half"}), in_group{"Parallel run"});
  option(app, "--order successors|predecessors|doubling", o.order,
         "order in which a thief asks its victims along the ring", shown_default,
         CLI::IsMember({"successors", "predecessors", "doubling"}), in_group{"Parallel run"});
}

/// A text of everything that the result depends on, for checkpoints: the tree itself, not its name.
std::string problem_text(uts_parameters const& p) {
  return fmt::format("tree {} {} {} {} {} {} {} {}", static_cast<int>(p.type), static_cast<int>(p.shape),
                     p.depth, p.branching, p.probability, p.children, p.shift, p.seed);
}

skel::schedule::stealing stealing_of(options const& o) {
  auto const ring = skel::any_schedule(fmt::format("ring:take={},order={}", o.take, o.order)).policy();
  return {ring.take, ring.order};
}

skel::ring_steal_options steal_options(skel::program::common_options const& common,
                                       std::string const& problem) {
  return {.label = "search", .checkpoint = common.checkpoint("skel-search", problem)};
}

// Prints the result and adds it to the report. With --verify, fails if another method gives another
// result.
skel::program::run_outcome finish(skel::program::common_options const& common, skel::report run,
                                  std::string const& text, skel::observe::report_object fields,
                                  skel::observe::problem_size problem, std::string const& other) {
  if (common.verify && other != text)
    throw skel::program::verification_error(
        fmt::format("verification failed: found {}, but another method finds {}", text, other));
  fmt::print("{}\n", text);
  if (!common.output.empty()) skel::write_file_atomically(common.output, text + "\n");
  skel::program::run_outcome outcome;
  outcome.run = std::move(run);
  if (common.verify) outcome.verified = text + ", by another method";
  outcome.result_xxh3 = skel::xxh3_hex(std::as_bytes(std::span(text)));
  outcome.fields = std::move(fields);
  outcome.problem = std::move(problem);
  return outcome;
}

skel::program::run_outcome search_tree(skel::context& ctx, skel::program::common_options const& common,
                                       options const& o) {
  auto const tree = parse_tree(o.tree);
  tree_search const job{uts_tree(tree.parameters)};
  auto const open = [&] { return std::vector<uts_node>{job.tree.root()}; };
  auto const [found, run] = skel::ring_steal(ctx, skel::on_root(open), job, stealing_of(o),
                                             steal_options(common, problem_text(tree.parameters)));
  if (!ctx.is_root() || run.stopped_early) return {run, {}, {}, {}};
  std::string other;
  if (common.verify) {
    other = to_string(traverse_independently(tree.parameters));
    if (tree.published && !(found == *tree.published)) other = to_string(*tree.published) + " (published)";
  }
  return finish(common, run, to_string(found),
                {{"nodes", found.nodes}, {"leaves", found.leaves}, {"depth", found.depth}},
                {{"tree", o.tree}}, other);
}

skel::program::run_outcome search_queens(skel::context& ctx, skel::program::common_options const& common,
                                         options const& o) {
  unsigned const n = *o.queens;
  auto const open = [] { return std::vector<placement>{placement{}}; };
  auto const [solutions, run] = skel::ring_steal(ctx, skel::on_root(open), queens_search{n}, stealing_of(o),
                                                 steal_options(common, fmt::format("queens {}", n)));
  if (!ctx.is_root() || run.stopped_early) return {run, {}, {}, {}};
  auto const text = [](std::uint64_t count) { return fmt::format("{} solutions", count); };
  return finish(common, run, text(solutions), {{"solutions", solutions}}, {{"queens", std::to_string(n)}},
                common.verify ? text(count_queens_slowly(n)) : "");
}

skel::program::run_outcome run_search(skel::context& ctx, skel::program::common_options const& common,
                                      options const& o) {
  if (o.tree.empty() == !o.queens)
    throw skel::usage_error("expected one search: --tree with one of T1 to T5, T1L, T3L, or --queens N");
  if (!common.output.empty()) skel::program::require_ending(common.output, {".txt"});
  return o.queens ? search_queens(ctx, common, o) : search_tree(ctx, common, o);
}

}  // namespace

int main(int argc, char** argv) {
  return skel::program::run_program(
      argc, argv,
      {.name = "skel-search",
       .description = "Counts the nodes of unbalanced trees, or the solutions of N queens, on all ranks.",
       .options = skel::program::option_set::no_farm,
       .checkpoints = true,
       .formats = ".txt"},
      add_options, run_search);
}
