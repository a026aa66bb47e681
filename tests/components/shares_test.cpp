// The shares of a file, however many, have each edge once and in order. Expected edges are written
// down, or made without a reader.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catch.hpp"
#include "fewer.hpp"
#include "files.hpp"
#include "generate.hpp"

using namespace components;
using files::bytes_of;
using files::gzipped;

namespace {

using edges = std::vector<edge>;

edges read_share(std::string const& path, file_share share, file_facts& facts) {
  edges all;
  facts = read_edges(path, {}, share,
                     [&](std::span<edge const> some) { all.insert(all.end(), some.begin(), some.end()); });
  CHECK(facts.edges == all.size());
  return all;
}

// Checks shares of each number up to `most`. Returns the largest share of the last number.
std::size_t check_shares(std::string const& name, std::string const& content, edges const& expected,
                         std::uint64_t most) {
  files::temporary const file(name, content);
  std::uint64_t needed = 0;
  for (auto const& e : expected) needed = std::max<std::uint64_t>(needed, std::max(e.u, e.v) + 1);
  std::size_t largest = 0;
  for (std::uint64_t parts = 1; parts <= most; parts += parts < 5 ? 1 : test::longer_if_slow(7)) {
    INFO(name << " in " << parts << " shares");
    edges all;
    std::uint64_t nodes = 0, unpaired = 0;
    largest = 0;
    for (std::uint64_t part = 0; part < parts; ++part) {
      file_facts facts;
      auto const some = read_share(file.path(), {part, parts}, facts);
      all.insert(all.end(), some.begin(), some.end());
      largest = std::max(largest, some.size());
      nodes = std::max(nodes, facts.nodes);
      unpaired += facts.unpaired;
      if (facts.expected) CHECK(*facts.expected == expected.size());
    }
    CHECK((all == expected));
    CHECK(unpaired == 0);
    CHECK(nodes >= needed);
  }
  return largest;
}

}  // namespace

TEST_CASE("lines at the ends of shares belong to one share") {
  edges const four{{0, 1}, {55555, 1}, {2, 2}, {7, 0}};
  for (std::string const end : {"\n", "\r\n", "\r", "\n\n", "\r\r\n", " \n"}) {
    for (std::string const last : {"", "\n", "\r\n", "\r"}) {
      INFO(fmt::format("line end of {} bytes, last of {}", end.size(), last.size()));
      auto const text = [&](std::vector<std::string> const& lines) {
        return fmt::format("{}{}", fmt::join(lines, end), last);
      };
      auto const plain = text({"0 1", "55555 1", "2 2", "7 0"});
      check_shares("s.el", plain, four, plain.size() + 3);
      auto const commented =
          text({"# Nodes: 9 Edges: 4", "0 1", "# 3 3", "55555 1", "# Edges: 9", "2 2", "% a", "7 0"});
      check_shares("s.txt", commented, four, commented.size() + 3);
      check_shares("s.mtx",
                   text({"%%MatrixMarket matrix coordinate pattern general", "% 9 9", "55556 55556 4", "1 2",
                         "55556 2", "3 3", "% 5 5", "8 1"}),
                   four, 40);
    }
  }
}

TEST_CASE("files without edges, and lines longer than a share") {
  for (std::string const none : {"", "\n", "#", "# a\n", "\r\r\n\n", "# Nodes: 0 Edges: 0\n%"})
    check_shares("s.el", none, {}, 9);
  check_shares("s.mtx", "%%MatrixMarket matrix coordinate pattern general\n0 0 0", {}, 9);
  auto const wide = [](std::size_t size) {
    std::string const blank(size, ' ');
    return fmt::format("0 1\n{0}1 2{0}\n{0}\n#{0}\n{0}3 4{0}", blank);
  };
  check_shares("s.el", wide(5000), {{0, 1}, {1, 2}, {3, 4}}, 30);
  check_shares("s.el", wide(400'000), {{0, 1}, {1, 2}, {3, 4}}, 9);  // a buffer of text has a megabyte
}

TEST_CASE("shares of a large list are about equal") {
  edges made;
  std::string text;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    made.push_back({static_cast<node>(mix(i) >> 40), static_cast<node>(mix(i) & 0xffff)});
    text += fmt::format("{}\t{}\n", made.back().u, made.back().v);
  }
  CHECK(check_shares("s.el", text, made, 5) < 41'000);
}

TEST_CASE("shares of serialised graphs") {
  using i64 = std::int64_t;
  auto const undirected = bytes_of(std::uint8_t{0}, i64{8}, i64{6}, i64{0}, i64{0}, i64{3}, i64{4}, i64{5},
                                   i64{7}, i64{8}, 2, 3, 4, 1, 1, 1, 5, 4);
  check_shares("s.sg", undirected, {{2, 1}, {3, 1}, {4, 1}, {5, 4}}, 12);
  auto const directed =
      bytes_of(std::uint8_t{1}, i64{3}, i64{4}, i64{0}, i64{3}, i64{3}, i64{3}, i64{3}, 2, 0, 3);
  check_shares("s.sg", directed, {{0, 2}, {0, 0}, {0, 3}}, 9);
  check_shares("s.sg", bytes_of(std::uint8_t{0}, i64{0}, i64{0}, i64{0}), {}, 3);
}

TEST_CASE("shares of .skel-edges") {
  edges made;
  std::string bytes = "skeledge" + bytes_of(1, 0, std::uint64_t{1000}, std::uint64_t{777}, std::uint64_t{0});
  for (node i = 0; i < 777; ++i) {
    made.push_back({i, 999 - i});
    bytes += bytes_of(i, 999 - i);
  }
  files::temporary const file("s.skel-edges", bytes);
  for (std::uint64_t const parts : {2, 3, 10, 776, 777, 1000}) {
    edges all;
    for (std::uint64_t part = 0; part < parts; ++part) {
      file_facts facts;
      auto const some = read_share(file.path(), {part, parts}, facts);
      all.insert(all.end(), some.begin(), some.end());
      CHECK(some.size() <= (777 + parts - 1) / parts);
      CHECK(facts.has_hash);  // who reads all shares has to check it
    }
    CHECK((all == made));
  }
}

TEST_CASE("shares of a packed file") {
  edges made;
  std::string text;
  for (node i = 0; i < 50'000; ++i) {
    made.push_back({i, i / 2});
    text += fmt::format("{} {}\n", i, i / 2);
  }
  files::temporary const file("s.el.gz", gzipped(text));
  for (std::uint64_t const parts : {1, 2, 3, 7, 20}) {
    std::vector<std::size_t> sizes;
    edges all;
    for (std::uint64_t part = 0; part < parts; ++part) {
      file_facts facts;
      auto const some = read_share(file.path(), {part, parts}, facts);
      all.insert(all.end(), some.begin(), some.end());
      sizes.push_back(some.size());
      if (!some.empty() && parts > 1) CHECK(some.front().u == part * 4096);
    }
    std::sort(all.begin(), all.end());
    CHECK((all == made));
    if (parts == 3) CHECK(sizes == std::vector<std::size_t>{4 * 4096 + 848, 4 * 4096, 4 * 4096});
  }
}

TEST_CASE("a share of an incomplete file is refused, or its edges are too few") {
  file_facts facts;
  auto const last = [&](std::string const& name, std::string const& content) {
    files::temporary const file(name, content);
    try {
      static_cast<void>(read_share(file.path(), {2, 3}, facts));
      return std::string("no error");
    } catch (skel::usage_error const&) {
      return std::string("error");
    }
  };
  CHECK(last("s.el", "# Nodes: 3 Edges: 2\n0 1\n") == "no error");
  CHECK(facts.expected == std::uint64_t{2});
  CHECK(last("s.el", "0 1\n1 2\n3 x\n") == "error");
  auto const whole =
      "skeledge" + bytes_of(1, 0, std::uint64_t{9}, std::uint64_t{3}, std::uint64_t{0}, 1, 2, 3, 4, 5, 6);
  CHECK(last("s.skel-edges", whole) == "no error");
  CHECK(last("s.skel-edges", whole + "x") == "error");
  CHECK(last("s.skel-edges", whole.substr(0, whole.size() - 1)) == "error");
  auto const offsets = [&](std::int64_t second, std::int64_t third) {
    return last("s.sg", bytes_of(std::uint8_t{0}, std::int64_t{4}, std::int64_t{4}, std::int64_t{0}, second,
                                 third, std::int64_t{3}, std::int64_t{4}, 1, 0, 3, 2));
  };
  CHECK(offsets(1, 2) == "no error");
  CHECK(offsets(1, 9) == "error");
}
