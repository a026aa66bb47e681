// Random changes to files of each format give either an error of one line that names the file, or a
// graph whose edges are among its nodes. The shares of a file have the same edges, or show that
// something is wrong.
#include "catch.hpp"
#include "files.hpp"
#include "generate.hpp"
#include "reference.hpp"

using namespace components;
using files::bytes_of;

namespace {

std::string changed(std::string text, std::uint64_t random) {
  static std::array<std::string, 12> const words{
      "-1",        "x", " ", "\n", "#", "%", "99999999999999999999", "0", "1e9", "\xff", "%%MatrixMarket",
      "4294967295"};
  auto const changes = 1 + random % 3;
  for (std::uint64_t i = 0; i < changes && !text.empty(); ++i) {
    auto const what = mix(random + i), at = below(mix(what), text.size());
    switch (what % 5) {
      case 0:
        text[at] = static_cast<char>(what >> 8);
        break;
      case 1:
        text.resize(at);
        break;
      case 2:
        text.insert(at, words[(what >> 8) % words.size()]);
        break;
      case 3:
        text.erase(at, 1 + (what >> 8) % 9);
        break;
      default:
        text.replace(at, 1, words[(what >> 8) % words.size()]);
    }
  }
  return text;
}

// Returns the edges of all shares, or nothing if they show an error.
std::optional<std::vector<edge>> read_shares(std::string const& path, std::uint64_t parts) {
  std::vector<edge> all;
  std::uint64_t unpaired = 0;
  std::optional<std::uint64_t> expected;
  try {
    for (std::uint64_t part = 0; part < parts; ++part) {
      auto const facts = read_edges(path, {}, {part, parts}, [&](std::span<edge const> some) {
        for (auto const& e : some) all.push_back(e);
      });
      unpaired += facts.unpaired;
      expected = facts.expected;
    }
  } catch (skel::usage_error const&) {
    return std::nullopt;
  }
  if (unpaired != 0 || expected.value_or(all.size()) != all.size()) return std::nullopt;
  return all;
}

bool one_line(std::string const& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 127; });
}

}  // namespace

TEST_CASE("changed files are read or refused") {
  std::array<std::pair<std::string, std::string>, 5> const graphs{{
      {"f.txt", "# Nodes: 4 Edges: 3\n0 1\n5 1\n2 2\n"},
      {"f.mtx", "%%MatrixMarket matrix coordinate real symmetric\n% x\n4 4 3\n1 2 1.5\n4 2 2\n3 3 1\n"},
      {"f.sg", bytes_of(std::uint8_t{0}, std::int64_t{4}, std::int64_t{3}, std::int64_t{0}, std::int64_t{1},
                        std::int64_t{3}, std::int64_t{4}, 1, 0, 2, 1)},
      {"f.skel-edges",
       "skeledge" + bytes_of(1, 0, std::uint64_t{9}, std::uint64_t{2}, std::uint64_t{0}, 1, 2, 3, 4)},
      {"f.gz", files::gzipped("0 1\n5 1\n2 2\n")},
  }};
  std::uint64_t const rounds = std::getenv("SKEL_LONG") != nullptr ? 200'000 : 2'000;
  std::uint64_t read = 0;
  for (auto const& [name, content] : graphs) {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      auto const text = changed(content, mix(i));
      INFO(name << " after change " << i);
      files::temporary const file(name, text);
      try {
        auto const g = read_graph(file.path(), {});
        for (auto const& e : g.edges) REQUIRE(std::max(e.u, e.v) < g.nodes);
        auto const shares = read_shares(file.path(), 2 + i % 5);
        REQUIRE(shares.has_value());
        REQUIRE(std::equal(shares->begin(), shares->end(), g.edges.begin(), g.edges.end()));
        ++read;
      } catch (skel::usage_error const& e) {
        std::string const what = e.what();
        REQUIRE(what.starts_with(file.path() + ":"));
        REQUIRE(one_line(what));
        bool const only_hash = what.ends_with("(XXH3 differs)");  // the only fault that shares cannot show
        REQUIRE((only_hash || !read_shares(file.path(), 2 + i % 5)));
      }
    }
  }
  CHECK(read > rounds / 10);
}
