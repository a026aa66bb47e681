// Reads a file in shares and finds components, twice, with a rank that kills itself: components_losses
// WHEN NAME SEED. WHEN is "read" (before it reads its share) or "solve", or with "root-" before it, for the
// first root; the ending of NAME is the format. The root prints the lost ranks and whether the labels are
// right. components_losses_test.cpp starts it.
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>

#include "file_parts.hpp"
#include "files.hpp"
#include "job.hpp"
#include "mpi/deaths.hpp"
#include "reference.hpp"
#include "skel/skel.hpp"

namespace {

using namespace components;

struct deadly_job : components_job {
  bool dies = false;
  [[nodiscard]] roots solve(edge_part const& part) const { return solve(part, 1); }
  [[nodiscard]] roots solve(edge_part const& part, unsigned threads) const {
    if (dies) test::die();
    return components_job::solve(part, threads);
  }
};

std::string content_of(std::vector<edge> const& edges, std::string const& name) {
  std::string text;
  for (auto const& e : edges) text += fmt::format("{} {}\n", e.u, e.v);
  return name.ends_with(".gz") ? files::gzipped(text) : text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::string former;  // the file of a root that is lost
  auto const body = [&](skel::context& ctx) {
    std::string const when = argv[1], name = argv[2];
    test::plan_of_deaths const p{when, std::strtoull(argv[3], nullptr, 10), ctx.size(), {}, ctx.attempt()};
    auto const edges = reference::edges_of(parse_graph("uniform:n=30000,m=27000"));
    std::optional<files::temporary> file;
    if (ctx.is_root()) std::remove(former.c_str());
    if (ctx.is_root()) file.emplace(name, content_of(edges, name));
    auto const path = skel::broadcast(ctx, skel::on_root([&] { return file->path(); })).value;
    former = *path;
    bool const dies = when.starts_with("root-") ? ctx.is_root() && p.attempt == 1 : ctx.rank() == p.victim();
    if (dies && when.ends_with("read")) test::die();
    skel::any_division const kind("hypercube");
    auto const graph = read_distributed(ctx, *path, 30000, kind);
    for (bool const first : {true, false}) {
      deadly_job job;
      job.nodes = graph.nodes;
      job.dies = first && dies;
      auto found = connect(ctx, graph.edges, job, kind);
      if (!ctx.is_root()) continue;
      auto& lost = found.run.lost_ranks;  // by this call, or while the file was read
      if (first) lost.insert(lost.end(), found.run.lost_before.begin(), found.run.lost_before.end());
      auto const labels = found.labels.labels();
      auto const expected = reference::labels(edges, 30000);
      test::say_losses(std::equal(labels.begin(), labels.end(), expected.begin(), expected.end()), found.run);
    }
  };
  return skel::run_main(argc, argv, skel::restartable(body));
}
