#include "graph_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "input.hpp"
#include "program/text.hpp"
#include "skel/atomic_file.hpp"
#include "skel/error.hpp"

namespace components {

std::uint64_t at_least(std::uint64_t known, node_limit nodes, std::string const& path) {
  if (nodes && *nodes < known)
    throw skel::usage_error(fmt::format("{}: {} nodes, expected at most --nodes {}", path, known, *nodes));
  return nodes.value_or(known);
}

void require_memory(std::uint64_t bytes, std::string const& what) {
  auto const pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || size <= 0) return;
  auto const memory = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size);
  if (bytes <= memory) return;
  throw skel::usage_error(fmt::format("{} need {:.1f} GB, found {:.1f} GB of memory", what,
                                      static_cast<double>(bytes) / 1e9, static_cast<double>(memory) / 1e9));
}

namespace {

auto* reader_of(input& in) {
  auto const head = in.begins_with(18);  // with a byte order mark
  auto name = skel::program::lower(in.path());
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  // An empty file, or one truncated within its first bytes, must not be read as a list of no edges.
  if (head.starts_with(binary_magic)) return read_binary_edges;
  if (is_matrix_banner(skel::program::without_mark(head))) return read_matrix_market;
  if (name.ends_with(".skel-edges")) return read_binary_edges;
  if (name.ends_with(".mtx")) return read_matrix_market;
  if (name.ends_with(".sg")) return read_serialized_graph;
  if (name.ends_with(".el")) return read_edge_list;
  if (name.ends_with(".graph") || name.ends_with(".metis") || is_metis(in))
    throw skel::usage_error(
        in.path() +
        ": found a graph of METIS, whose lines are the neighbours of a node; "
        "expected an edge list (ending in .el if it looks like METIS), Matrix Market, .sg or "
        ".skel-edges");
  in.rewind();
  return read_edge_list;
}

}  // namespace

file_facts read_edges(std::string const& path, node_limit nodes, file_share share, edge_sink const& sink) {
  input in(path);
  auto* const read = reader_of(in);
  if (!in.packed() || share.parts == 1) return read(in, nodes, share, sink);
  std::uint64_t seen = 0, kept = 0;
  auto facts = read(in, nodes, {}, [&](std::span<edge const> some) {
    while (!some.empty()) {
      auto const part = some.first(std::min<std::uint64_t>(some.size(), dealt_edges - seen % dealt_edges));
      if (seen / dealt_edges % share.parts == share.part) {
        sink(part);
        kept += part.size();
      }
      seen += part.size();
      some = some.subspan(part.size());
    }
  });
  facts.edges = kept;
  return facts;
}

graph read_graph(std::string const& path, node_limit nodes) {
  graph g;
  g.nodes = read_edges(path, nodes, {}, [&](std::span<edge const> some) { g.edges.append(some); }).nodes;
  require_memory(g.nodes * sizeof(node), fmt::format("{}: labels of {} nodes", path, g.nodes));
  return g;
}

void write_labels(std::string const& path, std::span<node const> labels) {
  skel::atomic_file file(path);
  if (skel::program::lower(path).ends_with(".bin")) {
    file.write(std::as_bytes(labels));
  } else {
    std::string text;
    for (auto const label : labels) {
      std::array<char, 12> digits;
      auto* const end = std::to_chars(digits.begin(), digits.end(), label).ptr;
      *end = '\n';
      text.append(digits.begin(), end + 1);
      if (text.size() > 1U << 16) {
        file.write(text);
        text.clear();
      }
    }
    file.write(text);
  }
  file.commit();
}

}  // namespace components
