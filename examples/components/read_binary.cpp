// Reads GAPBS's .sg and skel's .skel-edges. Counts in a file are not trusted: memory is allocated
// as bytes are read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "generate.hpp"
#include "input.hpp"
#include "skel/atomic_file.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"

namespace components {

namespace {

template <class T>
T number(input& in, char const* what) {
  T value{};
  auto const at = in.position();
  if (in.read(std::as_writable_bytes(std::span(&value, 1))) != sizeof value)
    in.fail_at(at, fmt::format("expected {}, found the end of the file", what));
  return value;
}

// Reads `count` values, a few megabytes at a time.
template <class T>
big_array<T> numbers(input& in, std::uint64_t count, char const* what) {
  constexpr std::uint64_t stretch = std::uint64_t{1} << 20;
  big_array<T> values;
  while (values.size() < count) {
    auto const before = values.size(), more = std::min<std::uint64_t>(stretch, count - before);
    if (values.capacity() < before + more) values.reserve(std::min(count, before + more + before / 2));
    values.resize(before + more);
    auto const bytes = std::as_writable_bytes(std::span(values.data() + before, more));
    if (auto const got = in.read(bytes); got < bytes.size())
      in.fail(fmt::format("expected {} {}, found {} and the end of the file", count, what,
                          before + got / sizeof(T)));
  }
  return values;
}

void expect_end(input& in) {
  std::byte one{};
  auto const at = in.position();
  if (in.read({&one, 1}) != 0) in.fail_at(at, "expected the end of the file");
}

void check_offsets(input const& in, big_array<std::int64_t> const& offsets, std::int64_t edges,
                   std::uint64_t begin) {
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    auto const least = i == 0 ? 0 : offsets[i - 1];
    if (offsets[i] < least || offsets[i] > edges || (i == 0 && offsets[i] != 0) ||
        (i + 1 == offsets.size() && offsets[i] != edges))
      in.fail_at(begin + 8 * i,
                 fmt::format("expected offsets that grow from 0 to {}, found {}", edges, offsets[i]));
  }
}

}  // namespace

// directed: 1 byte; edges, nodes: 8 bytes each; nodes + 1 offsets of 8 bytes; neighbours of 4
// bytes. Directed graphs repeat this for incoming edges. Undirected edges occur twice: the half
// with v < u is kept, after a sum of hashes confirms that the other half mirrors it.
graph read_serialized_graph(input& in, node_limit limit) {
  auto const directed = number<std::uint8_t>(in, "directed (0 or 1)");
  if (directed > 1) in.fail_at(0, fmt::format("expected 0 or 1 for directed, found {}", directed));
  auto const edges = number<std::int64_t>(in, "a number of edges");
  if (edges < 0) in.fail_at(1, fmt::format("expected a number of edges, found {}", edges));
  auto const nodes = number<std::int64_t>(in, "a number of nodes");
  constexpr std::int64_t most = INT32_MAX;
  if (nodes < 0 || nodes > most)
    in.fail_at(9, fmt::format("expected a number of nodes up to {}, found {}", most, nodes));

  auto const offsets = numbers<std::int64_t>(in, static_cast<std::uint64_t>(nodes) + 1, "offsets");
  check_offsets(in, offsets, edges, 17);
  graph g;
  g.nodes = at_least(static_cast<std::uint64_t>(nodes), limit, in.path());
  std::uint64_t downwards = 0, upwards = 0;
  std::vector<std::int32_t> some;
  std::size_t u = 0;
  for (std::int64_t done = 0; done < edges;) {
    some.resize(static_cast<std::size_t>(std::min<std::int64_t>(1 << 18, edges - done)));
    auto const at = in.position();
    if (auto const got = in.read(std::as_writable_bytes(std::span(some))); got < 4 * some.size())
      in.fail(fmt::format("expected {} neighbours, found {} and the end of the file", edges,
                          static_cast<std::uint64_t>(done) + got / 4));
    for (std::size_t i = 0; i < some.size(); ++i, ++done) {
      while (offsets[u + 1] <= done) ++u;
      auto const v = some[i];
      if (v < 0 || v >= nodes)
        in.fail_at(at + 4 * i, fmt::format("expected a node from 0 to {}, found {}", nodes - 1, v));
      auto const from = static_cast<node>(u), to = static_cast<node>(v);
      auto const hash = mix(std::uint64_t{std::max(from, to)} << 32 | std::min(from, to));
      downwards += to < from ? hash : 0;
      upwards += to > from ? hash : 0;
      if (directed != 0 || to <= from) g.edges.push_back({from, to});
    }
  }
  if (directed == 0) {
    if (downwards != upwards) in.fail("expected each edge of an undirected graph in both directions");
    expect_end(in);
  }
  return g;
}

graph read_binary_edges(input& in, node_limit limit) {
  auto const magic = number<std::array<char, 8>>(in, "\"skeledge\"");
  if (std::string_view(magic.data(), magic.size()) != binary_magic)
    in.fail_at(0, fmt::format("expected \"{}\", found other bytes", binary_magic));
  if (auto const version = number<std::uint32_t>(in, "a version"); version != 1)
    in.fail_at(8, fmt::format("expected version 1, found {}", version));
  if (auto const zero = number<std::uint32_t>(in, "0"); zero != 0)
    in.fail_at(12, fmt::format("expected 0, found {}", zero));
  auto const nodes = number<std::uint64_t>(in, "a number of nodes");
  if (nodes > most_nodes)
    in.fail_at(16, fmt::format("expected a number of nodes up to {}, found {}", most_nodes, nodes));
  auto const count = number<std::uint64_t>(in, "a number of edges");
  auto const hash = number<std::uint64_t>(in, "the edges' XXH3");
  graph g;
  g.nodes = at_least(nodes, limit, in.path());
  g.edges = numbers<edge>(in, count, "edges");
  expect_end(in);
  for (std::size_t i = 0; i < g.edges.size(); ++i) {
    auto const [u, v] = g.edges[i];
    if (std::max(u, v) >= nodes)
      in.fail_at(40 + 8 * i, fmt::format("expected nodes below {}, found {} and {}", nodes, u, v));
  }
  skel::xxh3_hasher hasher;
  hasher.update(std::as_bytes(g.edges.span()));
  if (hasher.value() != hash) in.fail_at(32, "the edges are damaged (XXH3 differs)");
  return g;
}

void write_edges(std::string const& path, std::span<edge const> edges, std::uint64_t nodes) {
  skel::xxh3_hasher hasher;
  hasher.update(std::as_bytes(edges));
  std::array<std::uint64_t, 5> head{0, 1, nodes, edges.size(), hasher.value()};
  std::memcpy(head.data(), binary_magic, 8);
  skel::atomic_file file(path);
  file.write(std::as_bytes(std::span(head)));
  file.write(std::as_bytes(edges));
  file.commit();
}

}  // namespace components
