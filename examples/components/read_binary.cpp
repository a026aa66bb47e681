// Reads GAPBS's .sg and skel's .skel-edges. Counts in a file are not trusted: memory is allocated
// as bytes are read. Shares begin at these bytes:
//   .skel-edges: edge M part / parts
//   .sg: the first node whose edges begin at number M part / parts or behind
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

constexpr std::uint64_t stretch = std::uint64_t{1} << 18;  // values that are read at a time

// Reads values first ... last - 1 of `count`, which begin at this byte, and calls take(values,
// number of the first, its byte).
template <class T, class Take>
void numbers(input& in, std::uint64_t begin, std::uint64_t first, std::uint64_t last, std::uint64_t count,
             char const* what, Take const& take) {
  std::vector<T> some;
  in.seek(begin + first * sizeof(T));
  for (auto at = first; at < last; at += some.size()) {
    some.resize(std::min(stretch, last - at));
    auto const byte = in.position();
    if (auto const got = in.read(std::as_writable_bytes(std::span(some))); got < some.size() * sizeof(T))
      in.fail(
          fmt::format("expected {} {}, found {} and the end of the file", count, what, at + got / sizeof(T)));
    take(std::span<T const>(some), at, byte);
  }
}

void expect_end(input& in) {
  std::byte one{};
  auto const at = in.position();
  if (in.read({&one, 1}) != 0) in.fail_at(at, "expected the end of the file");
}

// The positions of a serialised graph's parts in its file.
struct serialized {
  std::int64_t edges, nodes;
  static constexpr std::uint64_t offsets = 17;
  [[nodiscard]] std::uint64_t neighbours() const {
    return offsets + 8 * (static_cast<std::uint64_t>(nodes) + 1);
  }
};

// Returns the first node whose edges begin at this number or behind.
std::uint64_t first_node(input& in, serialized const& g, std::uint64_t edge) {
  std::uint64_t least = 0, most = static_cast<std::uint64_t>(g.nodes);
  while (least < most) {
    auto const middle = least + (most - least) / 2;
    in.seek(serialized::offsets + 8 * middle);
    if (number<std::int64_t>(in, "an offset") < static_cast<std::int64_t>(edge))
      least = middle + 1;
    else
      most = middle;
  }
  return least;
}

// Returns the offsets of nodes first ... last.
big_array<std::int64_t> read_offsets(input& in, serialized const& g, std::uint64_t first,
                                     std::uint64_t last) {
  auto const count = static_cast<std::uint64_t>(g.nodes) + 1;
  big_array<std::int64_t> offsets;
  auto const take = [&](std::span<std::int64_t const> some, std::uint64_t /*number*/,
                        std::uint64_t /*byte*/) { offsets.append(some); };
  numbers<std::int64_t>(in, serialized::offsets, first, last + 1, count, "offsets", take);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    auto const x = first + i;
    auto const least = i == 0 ? 0 : offsets[i - 1];
    if (offsets[i] < least || offsets[i] > g.edges || (x == 0 && offsets[i] != 0) ||
        (x + 1 == count && offsets[i] != g.edges))
      in.fail_at(serialized::offsets + 8 * x,
                 fmt::format("expected offsets that grow from 0 to {}, found {}", g.edges, offsets[i]));
  }
  return offsets;
}

}  // namespace

// directed: 1 byte; edges, nodes: 8 bytes each; nodes + 1 offsets of 8 bytes; neighbours of 4
// bytes. Directed graphs repeat this for incoming edges. Undirected edges occur twice: the half
// with v < u is kept, after a sum of hashes confirms that the other half mirrors it.
file_facts read_serialized_graph(input& in, node_limit limit, file_share share, edge_sink const& sink) {
  auto const directed = number<std::uint8_t>(in, "directed (0 or 1)");
  if (directed > 1) in.fail_at(0, fmt::format("expected 0 or 1 for directed, found {}", directed));
  auto const edges = number<std::int64_t>(in, "a number of edges");
  if (edges < 0) in.fail_at(1, fmt::format("expected a number of edges, found {}", edges));
  auto const nodes = number<std::int64_t>(in, "a number of nodes");
  constexpr std::int64_t most = INT32_MAX;
  if (nodes < 0 || nodes > most)
    in.fail_at(9, fmt::format("expected a number of nodes up to {}, found {}", most, nodes));

  serialized const g{edges, nodes};
  auto const node_of = [&](std::uint64_t part) {
    if (part == 0) return std::uint64_t{0};
    if (part == share.parts) return static_cast<std::uint64_t>(nodes);
    return first_node(in, g, begin_of(part, share.parts, static_cast<std::uint64_t>(edges)));
  };
  auto const first = node_of(share.part), last = node_of(share.part + 1);
  if (first > last) in.fail_at(serialized::offsets, "expected offsets that grow");
  auto const offsets = read_offsets(in, g, first, last);
  file_facts facts;
  facts.nodes = at_least(static_cast<std::uint64_t>(nodes), limit, in.path());
  edge_buffer kept(sink);
  std::size_t u = 0;
  auto const take = [&](std::span<std::int32_t const> some, std::uint64_t at, std::uint64_t byte) {
    for (std::size_t i = 0; i < some.size(); ++i) {
      while (offsets[u + 1] <= static_cast<std::int64_t>(at + i)) ++u;
      auto const v = some[i];
      if (v < 0 || v >= nodes)
        in.fail_at(byte + 4 * i, fmt::format("expected a node from 0 to {}, found {}", nodes - 1, v));
      auto const from = static_cast<node>(first + u), to = static_cast<node>(v);
      auto const hash = mix(std::uint64_t{std::max(from, to)} << 32 | std::min(from, to));
      if (directed == 0 && to != from) facts.unpaired += to < from ? hash : 0 - hash;
      if (directed != 0 || to <= from) kept.add({from, to});
    }
  };
  numbers<std::int32_t>(in, g.neighbours(), static_cast<std::uint64_t>(offsets[0]),
                        static_cast<std::uint64_t>(offsets[offsets.size() - 1]),
                        static_cast<std::uint64_t>(edges), "neighbours", take);
  kept.flush();
  facts.edges = kept.count();
  if (share.parts == 1 && facts.unpaired != 0)
    in.fail("expected each edge of an undirected graph in both directions");
  if (directed == 0 && share.part + 1 == share.parts) expect_end(in);
  return facts;
}

file_facts read_binary_edges(input& in, node_limit limit, file_share share, edge_sink const& sink) {
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
  constexpr std::uint64_t head = 40;
  file_facts facts;
  facts.nodes = at_least(nodes, limit, in.path());
  facts.expected = count;
  auto const first = begin_of(share.part, share.parts, count);
  auto const last = begin_of(share.part + 1, share.parts, count);
  facts.edges = last - first;
  skel::xxh3_hasher hasher;
  numbers<edge>(in, head, first, last, count, "edges",
                [&](std::span<edge const> some, std::uint64_t /*number*/, std::uint64_t byte) {
                  for (std::size_t i = 0; i < some.size(); ++i) {
                    auto const [u, v] = some[i];
                    if (std::max(u, v) >= nodes)
                      in.fail_at(byte + sizeof(edge) * i,
                                 fmt::format("expected nodes below {}, found {} and {}", nodes, u, v));
                  }
                  if (share.parts == 1) hasher.update(std::as_bytes(some));
                  sink(some);
                });
  if (share.part + 1 == share.parts) expect_end(in);
  facts.has_hash = share.parts > 1;
  if (!facts.has_hash && hasher.value() != hash) in.fail_at(32, "the edges are damaged (XXH3 differs)");
  return facts;
}

void write_edges(std::string const& path, edge_blocks const& edges, std::uint64_t nodes) {
  std::uint64_t count = 0;
  skel::xxh3_hasher hasher;
  edges([&](std::span<edge const> some) {
    count += some.size();
    hasher.update(std::as_bytes(some));
  });
  std::array<std::uint64_t, 5> head{0, 1, nodes, count, hasher.value()};
  std::memcpy(head.data(), binary_magic, 8);
  skel::atomic_file file(path);
  file.write(std::as_bytes(std::span(head)));
  edges([&](std::span<edge const> some) { file.write(std::as_bytes(some)); });
  file.commit();
}

}  // namespace components
