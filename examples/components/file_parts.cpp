#include "file_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "input.hpp"
#include "skel/broadcast.hpp"
#include "skel/error.hpp"

namespace components {

namespace {

// What is known of a file when all ranks have read their shares.
struct file_summary {
  std::uint64_t nodes = 0;
  std::vector<std::uint64_t> starts{0};  // as in divided_file
};

struct share_facts {
  file_facts facts;
  bool failed = false;
};

struct share_range {
  std::uint64_t first = 0, last = 0;
};

// The job in which all ranks read a file. A rank keeps the edges of its own share only. It checks
// that of a lost rank, whose edges are read again where they are needed.
class read_shares {
 public:
  using problem = share_range;
  using solution = std::vector<share_facts>;  // of each share

  read_shares(std::string const& path, node_limit nodes, file_share own, big_array<edge>& edges)
      : path_(path), nodes_(nodes), own_(own), edges_(edges) {}

  [[nodiscard]] bool trivial(share_range const& r) const { return r.last - r.first <= 1; }
  [[nodiscard]] solution conquer(share_range const& r) const {
    bool const own = r.first == own_.part;
    if (own) edges_.resize(0);
    auto const keep = [&](std::span<edge const> some) {
      if (own) edges_.append(some);
    };
    try {
      return {{read_edges(path_, nodes_, {r.first, own_.parts}, keep), false}};
    } catch (skel::usage_error const&) {
      return {{{}, true}};  // the root finds out why
    }
  }
  // As the skeleton divides ranks: the first half is the larger one.
  [[nodiscard]] std::array<share_range, 2> divide(share_range const& r) const {
    auto const middle = r.last - (r.last - r.first) / 2;
    return {share_range{r.first, middle}, share_range{middle, r.last}};
  }
  [[nodiscard]] solution combine(solution a, solution const& b) const {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

 private:
  std::string const& path_;
  node_limit nodes_;
  file_share own_;
  big_array<edge>& edges_;
};

// Whether the root has to read the file again, to find an error or to check the hash of all edges.
bool needs_check(std::vector<share_facts> const& shares) {
  std::uint64_t edges = 0, unpaired = 0;
  for (auto const& s : shares) {
    if (s.failed || s.facts.has_hash) return true;
    edges += s.facts.edges;
    unpaired += s.facts.unpaired;
  }
  return unpaired != 0 || edges != shares.front().facts.expected.value_or(edges);
}

using facts_or_error = std::pair<file_facts, std::string>;

// Reads the whole file.
facts_or_error read_or_error(std::string const& path, node_limit nodes, edge_sink const& sink) {
  try {
    return {read_edges(path, nodes, {}, sink), {}};
  } catch (skel::usage_error const& e) {
    return {{}, e.what()};
  }
}

std::optional<file_summary> read_own_share(skel::context& ctx, std::string const& path, node_limit nodes,
                                           big_array<edge>& edges) {
  auto const parts = static_cast<std::uint64_t>(ctx.size());
  read_shares const job(path, nodes, {static_cast<std::uint64_t>(ctx.rank()), parts}, edges);
  auto const read = skel::divide_and_conquer(ctx, skel::replicated_problem{share_range{0, parts}}, job,
                                             skel::division::hypercube{}, {.label = "read"});
  if (!read.value.here()) return std::nullopt;
  auto const& shares = *read.value;
  if (needs_check(shares)) {
    auto const check = [&] { return read_or_error(path, nodes, [](std::span<edge const>) {}).second; };
    auto const error = skel::broadcast(ctx, skel::on_root(check), "check").value;
    if (!error) return std::nullopt;
    if (!error->empty()) throw skel::usage_error(*error);
  }
  file_summary summary;
  for (auto const& s : shares) {
    if (s.failed)
      throw skel::usage_error(path + ": rank 0 can read the file, but another rank cannot read its share");
    summary.nodes = std::max(summary.nodes, s.facts.nodes);
    summary.starts.push_back(summary.starts.back() + s.facts.edges);
  }
  return summary;
}

// The edges before each share of a packed file.
std::vector<std::uint64_t> starts_of_packed(std::uint64_t edges, std::uint64_t parts) {
  auto const rounds = edges / (parts * dealt_edges), rest = edges % (parts * dealt_edges);
  std::vector<std::uint64_t> starts{0};
  for (std::uint64_t part = 0; part < parts; ++part) {
    auto const of_rest = std::clamp(rest, part * dealt_edges, (part + 1) * dealt_edges) - part * dealt_edges;
    starts.push_back(starts.back() + rounds * dealt_edges + of_rest);
  }
  return starts;
}

// The root reads the file and sends its edges to all ranks, some megabytes at a time. Each takes its
// blocks. A broadcast sends a rank more than these, but survives the loss of others.
class dealer {
 public:
  dealer(skel::context& ctx, big_array<edge>& edges) : ctx_(ctx), edges_(edges) {}

  // Returns whether more edges follow.
  bool receive() {
    auto const some =
        skel::broadcast(ctx_, skel::on_root([&] { return std::exchange(round_, {}); }), "read").value;
    auto const parts = static_cast<std::uint64_t>(ctx_.size()), own = static_cast<std::uint64_t>(ctx_.rank());
    if (!some) return false;
    for (auto at = own * dealt_edges; at < some->size(); at += parts * dealt_edges)
      edges_.append(std::span(*some).subspan(at, std::min<std::uint64_t>(dealt_edges, some->size() - at)));
    return !some->empty();
  }
  void send(std::span<edge const> some) {
    while (!some.empty()) {
      auto const part = some.first(std::min<std::uint64_t>(some.size(), full() - round_.size()));
      round_.insert(round_.end(), part.begin(), part.end());
      some = some.subspan(part.size());
      if (round_.size() == full()) receive();
    }
  }
  void finish() {
    if (!round_.empty()) receive();
    receive();
  }

 private:
  [[nodiscard]] std::uint64_t full() const {
    auto const turn = static_cast<std::uint64_t>(ctx_.size()) * dealt_edges;
    return turn * std::max<std::uint64_t>(1, (std::uint64_t{1} << 20) / turn);
  }
  skel::context& ctx_;
  big_array<edge>& edges_;
  std::vector<edge> round_;  // on the root
};

// The root reads the file, and keeps the edges or deals them to all ranks.
std::optional<file_summary> read_on_root(skel::context& ctx, std::string const& path, node_limit nodes,
                                         bool deals, big_array<edge>& edges) {
  dealer all(ctx, edges);
  facts_or_error read;
  if (ctx.is_root())
    read = read_or_error(path, nodes, [&](std::span<edge const> some) {
      if (deals)
        all.send(some);
      else
        edges.append(some);
    });
  if (deals && ctx.is_root()) all.finish();
  while (deals && !ctx.is_root() && all.receive()) continue;
  auto const told = skel::broadcast(ctx, skel::on_root([&] { return read; }), "read").value;
  if (!told) return std::nullopt;
  auto const& [facts, error] = *told;
  if (!error.empty()) throw skel::usage_error(error);
  return file_summary{facts.nodes, starts_of_packed(facts.edges, static_cast<std::uint64_t>(ctx.size()))};
}

}  // namespace

distributed_graph read_distributed(skel::context& ctx, std::string const& path, node_limit nodes,
                                   skel::any_division const& kind) {
  if (ctx.size() == 1) {
    auto g = read_graph(path, nodes);
    return {edge_part(std::move(g.edges)), g.nodes};
  }
  bool const tree = kind.which() == skel::any_division::kind::tree;
  bool packed = false;
  if (!tree) {
    input in(path);
    packed = in.packed();
    ctx.require_same("the content of GRAPH", in.sample());
  }
  big_array<edge> edges;
  auto summary = tree || packed ? read_on_root(ctx, path, nodes, packed, edges)
                                : read_own_share(ctx, path, nodes, edges);
  if (!summary) return {};
  require_memory(summary->nodes * sizeof(node), fmt::format("{}: labels of {} nodes", path, summary->nodes));
  if (tree) return {edge_part(std::move(edges)), summary->nodes};
  divided_file file{path, nodes, std::move(summary->starts)};
  auto const own = static_cast<std::uint64_t>(ctx.rank()), parts = static_cast<std::uint64_t>(ctx.size());
  return {
      edge_part(std::make_shared<edge_array const>(edge_array{std::move(edges), own, {}, std::move(file)}), 0,
                parts),
      summary->nodes};
}

}  // namespace components
