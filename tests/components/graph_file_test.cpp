// Reads each format, packed and not.
#include <fmt/format.h>

#include "catch.hpp"
#include "files.hpp"
#include "reference.hpp"

using namespace components;
using files::bytes_of;
using files::gzipped;

namespace {

using edges = std::vector<edge>;

edges read_edges(std::string const& name, std::string const& content, std::uint64_t nodes) {
  auto const g = files::read(name, content);
  CHECK(g.nodes == nodes);
  return {g.edges.begin(), g.edges.end()};
}

}  // namespace

TEST_CASE("edge lists") {
  edges const three{{0, 1}, {5, 1}, {2, 2}};
  std::string const text = "# Undirected graph\n# Nodes: 4 Edges: 3\n0\t1\r\n\n  5 1\n%\n2 2";
  CHECK(read_edges("a.txt", text, 6) == three);
  CHECK(read_edges("a.txt.gz", gzipped(text), 6) == three);
  CHECK(read_edges("a.txt.gz", gzipped(text + "\n") + gzipped("") + gzipped("# one file after the other\n"),
                   6) == three);
  CHECK(read_edges("a.el", "0 1\n5 1 0.25\n2 2 1e400 -17\n", 6) == three);
  CHECK(read_edges("a.el", "", 0).empty());
  // SNAP's number of nodes counts those that occur: it may be less than the largest number, and is not used
  CHECK(read_edges("a.txt", "# Nodes: 2 Edges: 1\n7 3\n", 8) == edges{{7, 3}});
  CHECK(read_edges("a.txt", "# Nodes: 10 Edges: 1\n0 1\n", 2) == edges{{0, 1}});
  CHECK(files::read("a.el", "0 1\n", 9).nodes == 9);
  // Only both numbers are a promise.
  CHECK(read_edges("a.txt",
                   "# Edges: from follower to followed\n# Edges: 88,234\n# Nodes: 3 Edges: many\n"
                   "# Nodes: 3 Edges: 88,234\n0 1\n",
                   2) == edges{{0, 1}});
  CHECK(read_edges("a.el", "0 1 {}\n+5 1 {'weight': 3, 'name': 'a b'}\n2 2 1 {}\n", 6) == three);
}

TEST_CASE("a byte order mark, and names in capitals") {
  std::string const mark = "\xEF\xBB\xBF";
  edges const one{{0, 1}};
  CHECK(read_edges("a.el", mark + "0 1\n", 2) == one);
  CHECK(read_edges("a.txt", mark + "# Nodes: 2 Edges: 1\n0 1\n", 2) == one);
  CHECK(read_edges("a.txt.gz", gzipped(mark + "0 1"), 2) == one);
  for (std::string const banner : {"%%MatrixMarket", "%MatrixMarket", "%%MATRIXMARKET", "%matrixmarket"})
    for (std::string const name : {"a.mtx", "a.MTX", "a.txt"})
      for (auto const& before : {std::string(), mark})
        CHECK(read_edges(name, before + banner + " matrix coordinate pattern general\n3 3 1\n1 2\n", 3) ==
              one);
  auto const graph = bytes_of(std::uint8_t{1}, std::int64_t{1}, std::int64_t{2}, std::int64_t{0},
                              std::int64_t{1}, std::int64_t{1}, 1);
  CHECK(read_edges("a.SG", graph, 2) == one);
  CHECK(read_edges("A.SG.GZ", gzipped(graph), 2) == one);
}

TEST_CASE("lines end with \\n, \\r\\n or \\r") {
  edges const two{{0, 1}, {1, 2}};
  CHECK(read_edges("a.el", "0 1\r1 2\r", 3) == two);
  CHECK(read_edges("a.el", "# a\r0 1\r1 2", 3) == two);
  CHECK(read_edges("a.el", "0 1\r\r\n1 2\r\n", 3) == two);
  CHECK(read_edges("a.mtx", "%%MatrixMarket matrix coordinate pattern general\r% x\r3 3 2\r1 2\r2 3\r", 3) ==
        two);
  // each byte of \r\n and \r falls in turn on the end of the megabyte buffer
  for (std::string const line : {"10 11\r\n", "10 11\r", "10 11\n"}) {
    std::string text;
    while (text.size() < 2'100'000) text += line;
    auto const count = text.size() / line.size();
    for (int more = 0; more < 8; ++more) {
      auto const g = files::read("a.el", std::string(static_cast<std::size_t>(more), ' ') + text);
      CHECK(g.edges.size() == count);
    }
    CHECK(files::error_of("a.el", text + "x").starts_with(fmt::format("a.el:{}: ", count + 1)));
  }
}

TEST_CASE("Matrix Market") {
  edges const two{{0, 1}, {3, 1}};
  CHECK(read_edges("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n% x\n\n4 4 2\n1 2\n4 2\n",
                   4) == two);
  CHECK(read_edges("a.mtx", "%%MatrixMarket MATRIX Coordinate Real General\n4 4 2\n1 2 1.5\n4 2 -1e-3\n",
                   4) == two);
  CHECK(read_edges("a.mtx",
                   gzipped("%%MatrixMarket matrix coordinate integer symmetric\n9 9 2\n1 2 3\n4 2 4\n"),
                   9) == two);
  CHECK(read_edges("a", "%%MatrixMarket matrix coordinate complex hermitian\n4 4 2\n1 2 3 0\n4 2 4 1\n", 4) ==
        two);
}

TEST_CASE("serialised graphs of GAPBS") {
  auto const undirected = bytes_of(std::uint8_t{0}, std::int64_t{4}, std::int64_t{3}, std::int64_t{0},
                                   std::int64_t{1}, std::int64_t{3}, std::int64_t{4}, 1, 0, 2, 1);
  CHECK(read_edges("a.sg", undirected, 3) == edges{{1, 0}, {2, 1}});
  CHECK(read_edges("a.sg.gz", gzipped(undirected), 3) == edges{{1, 0}, {2, 1}});
  auto const directed = bytes_of(std::uint8_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{0},
                                 std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, 2, 0);
  CHECK(read_edges("a.sg", directed, 3) == edges{{1, 2}, {2, 0}});
}

TEST_CASE(".skel-edges is read as it was written") {
  auto const g = parse_graph("uniform:n=1000,m=300000");
  auto const made = reference::edges_of(g);
  files::temporary const file("own.skel-edges", "");
  write_edges(
      file.path(), [&](edge_sink const& sink) { sink(made); }, g.nodes);
  auto const back = read_graph(file.path(), {});
  CHECK(back.nodes == g.nodes);
  CHECK(std::equal(back.edges.begin(), back.edges.end(), made.begin(), made.end()));
  std::ifstream in(file.path(), std::ios::binary);
  std::string const bytes{std::istreambuf_iterator<char>(in), {}};
  CHECK(bytes.size() == 40 + 8 * made.size());
  CHECK(files::read("b.gz", gzipped(bytes)).edges.size() == made.size());
}

TEST_CASE("labels are written as text and as bytes") {
  std::vector<node> const labels{0, 0, 2, 4294967294};
  for (std::string const ending : {".txt", ".bin"}) {
    files::temporary const file("labels" + ending, "");
    write_labels(file.path(), labels);
    std::ifstream in(file.path(), std::ios::binary);
    std::string const bytes{std::istreambuf_iterator<char>(in), {}};
    CHECK(bytes == (ending == ".txt" ? "0\n0\n2\n4294967294\n"
                                     : bytes_of(labels[0], labels[1], labels[2], labels[3])));
  }
}
