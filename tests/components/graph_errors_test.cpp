// Errors name the place, the defect and what was expected, word for word.
#include "catch.hpp"
#include "files.hpp"

using files::bytes_of;
using files::error_of;
using files::gzipped;

TEST_CASE("errors of edge lists") {
  auto const list = [](std::string const& text) { return error_of("g.el", text); };
  CHECK(list("0 1\n2 x\n") == "g.el:2: expected a node number, found \"x\"");
  CHECK(list("0 1\n2\n") == "g.el:2: expected a node number, found the end of the line");
  CHECK(list("0 1\r2 x\r") == "g.el:2: expected a node number, found \"x\"");
  CHECK(list("0 -1\n") == "g.el:1: expected a node number from 0 to 4294967294, found \"-1\"");
  CHECK(list("4294967295 1\n") ==
        "g.el:1: expected a node number from 0 to 4294967294, found \"4294967295\"");
  CHECK(list("1 99999999999999999999999\n") ==
        "g.el:1: expected a node number from 0 to 4294967294, found \"99999999999999999999999\"");
  CHECK(list("1.5 2\n") == "g.el:1: expected a node number, found \"1.5\"");
  CHECK(list("1 2 nan?\n") == "g.el:1: expected a number after the two nodes, found \"nan?\"");
  CHECK(list("1 2 3 4 5\n") == "g.el:1: expected 2 to 4 numbers, found \"5\"");
  CHECK(list("\x01\xff\n") == "g.el:1: expected a node number, found \"??\"");
  CHECK(list("# Nodes: 3 Edges: 5\n0 1\n1 2\n") == "g.el:3: 2 edges, expected 5 from line 1");
  CHECK(list("1 2 {} {\n1 2 x{}\n") == "g.el:2: expected a number after the two nodes, found \"x{}\"");
  CHECK(list(std::string(3 << 20, ' ')) == "g.el:1: line longer than a megabyte, expected text");
  CHECK(error_of("g.el", "0 1\n7 2\n", 5) == "g.el:2: expected a node number from 0 to 4, found \"7\"");
}

TEST_CASE("graphs of METIS are refused, not read as edges") {
  auto const text = [](std::string const& path) {
    return path +
           ": found a graph of METIS, whose lines are the neighbours of a node; expected an edge list "
           "(ending in "
           ".el if it looks like METIS), Matrix Market, .sg or .skel-edges";
  };
  std::string const metis = "7 7\n2 4\n1 3\n2 4\n1 3\n6 7\n5 7\n5 6\n";
  for (std::string const name : {"m.graph", "M.GRAPH", "m.metis.gz"})
    CHECK(error_of(name, "0 1\n") == text(name));
  for (auto const& content :
       {metis, "\xEF\xBB\xBF" + metis, "% a comment\n" + metis, std::string("3 1\n2\n1\n\n"),
        std::string("3 2 1\n2 5\n1 5 3 2\n2 2\n"), std::string("3 2 011 2\n9 9 2 5\n8 8 1 5 3 2\n7 7 2 2\n"),
        std::string("2 1 100\n9 2\n9 1\n")}) {
    CHECK(error_of("m.txt", content) == text("m.txt"));
    CHECK(error_of("m", gzipped(content)) == text("m"));
  }
  CHECK(files::read("m.el", metis).edges.size() == 8);
  // Edge lists whose first lines may be sizes: a wrong number of lines, of edges, or of a node.
  for (std::string const content :
       {"1 2\n2 3\n", "2 1\n0 1\n", "4 3\n3 2\n2 1\n1 0\n", "2 2\n1 2\n1 2\n1 2\n", "3 1\n1 2\n2 3\n1 3\n",
        "1 1\n2 3\n", "0 0\n", "5 3 0.1\n1 1\n"})
    CHECK(error_of("m.txt", content) == "no error");
}

TEST_CASE("errors of Matrix Market") {
  auto const with = [](std::string const& text) { return error_of("g.mtx", "%%MatrixMarket " + text); };
  std::string const head = "matrix coordinate pattern symmetric\n";
  CHECK(error_of("g.mtx", "") == "g.mtx: at byte 0: expected \"%%MatrixMarket\", found the end of the file");
  CHECK(error_of("g.mtx", "%%Matrix") == "g.mtx:1: expected \"%%MatrixMarket\", found \"%%Matrix\"");
  CHECK(error_of("g.mtx", "3 3 1\n1 2\n") == "g.mtx:1: expected \"%%MatrixMarket\", found \"3\"");
  CHECK(error_of("g.mtx", "%MatrixMarketing\n") ==
        "g.mtx:1: expected \"%%MatrixMarket\", found \"%MatrixMarketing\"");
  CHECK(with("matrix array real general\n") == "g.mtx:1: expected \"coordinate\", found \"array\"");
  CHECK(with("vector\n") == "g.mtx:1: expected \"matrix\", found \"vector\"");
  CHECK(with("matrix coordinate quaternion general\n") ==
        "g.mtx:1: expected pattern, real, integer or complex, found \"quaternion\"");
  CHECK(with("matrix coordinate real\n") ==
        "g.mtx:1: expected general, symmetric, skew-symmetric or hermitian, found the end of the line");
  CHECK(with(head) == "g.mtx:1: expected rows, columns and entries, found the end of the file");
  CHECK(with(head + "3 4 2\n") == "g.mtx:2: expected as many columns as rows, found 3 and 4");
  CHECK(with(head + "5000000000 5000000000 2\n") ==
        "g.mtx:2: expected a number of rows from 0 to 4294967295, found \"5000000000\"");
  CHECK(with(head + "3 3 2\n1 2\n") == "g.mtx:3: expected 2 entries, found 1 and the end of the file");
  CHECK(with(head + "3 3 1\n1 2\n2 3\n") == "g.mtx:4: expected 1 entries, found one more");
  CHECK(with(head + "3 3 1\n0 2\n") == "g.mtx:3: expected a row from 1 to 3, found \"0\"");
  CHECK(with(head + "3 3 1\n1 4\n") == "g.mtx:3: expected a column from 1 to 3, found \"4\"");
  CHECK(with(head + "3 3 1\n1 2 9\n") == "g.mtx:3: expected the end of the line, found \"9\"");
  CHECK(with(head + "3 3 1 7\n1 2\n") == "g.mtx:2: expected the end of the line, found \"7\"");
  CHECK(with("matrix coordinate pattern general 5\n3 3 1\n1 2\n") ==
        "g.mtx:1: expected the end of the line, found \"5\"");
  CHECK(with("matrix coordinate real general\n3 3 1\n1 2\n") ==
        "g.mtx:3: expected a value, found the end of the line");
}

TEST_CASE("errors of serialised graphs") {
  auto const with = [](auto... values) { return error_of("g.sg", bytes_of(values...)); };
  using i64 = std::int64_t;
  std::uint8_t const no = 0;
  CHECK(error_of("g.sg", "") == "g.sg: at byte 0: expected directed (0 or 1), found the end of the file");
  CHECK(with(std::uint8_t{7}) == "g.sg: at byte 0: expected 0 or 1 for directed, found 7");
  CHECK(with(no, 1) == "g.sg: at byte 1: expected a number of edges, found the end of the file");
  CHECK(with(no, i64{-1}) == "g.sg: at byte 1: expected a number of edges, found -1");
  CHECK(with(no, i64{1}, i64{1} << 40) ==
        "g.sg: at byte 9: expected a number of nodes up to 2147483647, found 1099511627776");
  CHECK(with(no, i64{2}, i64{1} << 30, i64{0}) ==
        "g.sg: at byte 25: expected 1073741825 offsets, found 1 and the end of the file");
  CHECK(with(no, i64{2}, i64{2}, i64{0}, i64{3}, i64{2}, 1, 0) ==
        "g.sg: at byte 25: expected offsets that grow from 0 to 2, found 3");
  CHECK(with(no, i64{2}, i64{2}, i64{0}, i64{1}, i64{1}, 1, 0) ==
        "g.sg: at byte 33: expected offsets that grow from 0 to 2, found 1");
  CHECK(with(no, i64{2}, i64{2}, i64{0}, i64{1}, i64{2}, 1, 5) ==
        "g.sg: at byte 45: expected a node from 0 to 1, found 5");
  CHECK(with(no, i64{2}, i64{2}, i64{0}, i64{1}, i64{2}, 1, -1) ==
        "g.sg: at byte 45: expected a node from 0 to 1, found -1");
  CHECK(with(no, i64{2}, i64{2}, i64{0}, i64{1}, i64{2}, 1) ==
        "g.sg: at byte 45: expected 2 neighbours, found 1 and the end of the file");
  CHECK(with(no, i64{1}, i64{2}, i64{0}, i64{1}, i64{1}, 1) ==
        "g.sg: at byte 45: expected each edge of an undirected graph in both directions");
  CHECK(with(no, i64{0}, i64{0}, i64{0}, no) == "g.sg: at byte 25: expected the end of the file");
}

TEST_CASE("errors of .skel-edges and packed files") {
  auto const with = [](auto... values) { return error_of("g", "skeledge" + bytes_of(values...)); };
  using u64 = std::uint64_t;
  auto const named = [](std::string const& text) { return error_of("g.skel-edges", text); };
  CHECK(named("") == "g.skel-edges: at byte 0: expected \"skeledge\", found the end of the file");
  CHECK(named("skele") == "g.skel-edges: at byte 0: expected \"skeledge\", found the end of the file");
  CHECK(named("0 1\n1 2\n") == "g.skel-edges: at byte 0: expected \"skeledge\", found other bytes");
  CHECK(with(2, 0) == "g: at byte 8: expected version 1, found 2");
  CHECK(with(1, 0, u64{1} << 32) ==
        "g: at byte 16: expected a number of nodes up to 4294967295, found 4294967296");
  CHECK(with(1, 0, u64{5}, u64{1} << 50, u64{0}, 1, 2) ==
        "g: at byte 48: expected 1125899906842624 edges, found 1 and the end of the file");
  CHECK(with(1, 0, u64{5}, u64{1}, u64{0}, 1, 5) == "g: at byte 40: expected nodes below 5, found 1 and 5");
  CHECK(with(1, 0, u64{5}, u64{1}, u64{0}, 1, 2) == "g: at byte 32: the edges are damaged (XXH3 differs)");
  CHECK(error_of("g.gz", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + "garbage!") ==
        "g.gz: at byte 11 of the packed file: damaged gzip file (invalid block type)");
}

TEST_CASE("errors of the packed and of the unpacked data of a gzip file") {
  auto const packed = gzipped("0 1\n1 2\n");
  auto const place = "g.gz: at byte " + std::to_string(packed.size()) + " of the packed file: ";
  auto const rest = [&](std::size_t bytes) {
    return place + "expected the end of the file or another gzip file, found " + std::to_string(bytes) +
           " other bytes";
  };
  CHECK(error_of("g.gz", packed + "0 2\n") == rest(4));
  CHECK(error_of("g.gz", packed + std::string(1'000'000, '\0')) == rest(1'000'000));
  CHECK(error_of("g.gz", packed + packed.substr(0, 1)) ==
        "g.gz: at byte " + std::to_string(packed.size() + 1) + " of the packed file: truncated gzip file");
  auto changed = packed;
  changed[packed.size() - 8] ^= 1;
  CHECK(error_of("g.gz", changed).find("of the packed file: damaged gzip file (incorrect data check)") !=
        std::string::npos);
  CHECK(error_of("g.gz", gzipped("skeledge" + bytes_of(2, 0))) ==
        "g.gz: at byte 8 of the unpacked data: expected version 1, found 2");
  CHECK(error_of("g.gz", gzipped("0 x\n")) == "g.gz:1: expected a node number, found \"x\"");
}

TEST_CASE("a truncated gzip file, a folder, and a missing file") {
  // "0 1\n" a thousand times, cut
  std::string const packed("\x1f\x8b\x08\0\0\0\0\0\0\x03\xed\xc1\x01\x01\0\0", 16);
  CHECK(error_of("g.gz", packed) == "g.gz: at byte 16 of the packed file: truncated gzip file");
  CHECK_THROWS_WITH(components::read_graph("/tmp", {}), "/tmp: Is a directory");
  CHECK_THROWS_WITH(components::read_graph("/tmp/none.el", {}), "/tmp/none.el: No such file or directory");
}
