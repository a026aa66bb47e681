#include "availability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "skel/checkpoint/code.hpp"
#include "skel/checkpoint/placement.hpp"
#include "skel/model/plot.hpp"
#include "skel/observe/atomic_file.hpp"

namespace bench {

namespace {

using namespace skel::storage;

// A part can be given back while m of its shards are on nodes that are left; `copies` where a node has
// several.
struct part {
  std::vector<int> shards_on;  // by node
  std::uint64_t nodes = 0;
  bool one_each = true;

  [[nodiscard]] bool survives(std::uint64_t lost, int needed) const {
    if (one_each) return std::popcount(nodes & ~lost) >= needed;
    int left = 0;
    for (std::size_t n = 0; n < shards_on.size(); ++n)
      if (((lost >> n) & 1U) == 0) left += shards_on[n];
    return left >= needed;
  }
};

std::vector<part> parts_of(code const& how, std::size_t nodes) {
  std::vector<place> places;
  for (std::size_t n = 0; n < nodes; ++n) places.push_back({fmt::format("/node{}", n), "", false});
  std::vector<part> parts;
  for (std::uint32_t p = 0; p < nodes; ++p) {
    part one{std::vector<int>(nodes), 0, true};
    for (auto const n : place_shards(places, how.shards(), {places[p].directory, p, 1, 0})) {
      ++one.shards_on[n];
      one.nodes |= std::uint64_t{1} << n;
      one.one_each = one.one_each && one.shards_on[n] == 1;
    }
    bool const known =
        std::ranges::any_of(parts, [&](auto const& q) { return q.shards_on == one.shards_on; });
    if (!known) parts.push_back(std::move(one));
  }
  return parts;
}

struct counted {
  std::uint64_t sets = 0, survived = 0;
};

// All sets of `lost` nodes, one after the other (Gosper's hack).
counted count(std::vector<part> const& parts, int needed, std::size_t nodes, std::size_t lost) {
  counted c;
  std::uint64_t const end = std::uint64_t{1} << nodes;
  for (std::uint64_t set = (std::uint64_t{1} << lost) - 1; set < end;) {
    ++c.sets;
    c.survived += std::ranges::all_of(parts, [&](auto const& p) { return p.survives(set, needed); }) ? 1 : 0;
    if (set == 0) break;
    auto const lowest = set & (~set + 1), ripple = set + lowest;
    set = (((ripple ^ set) >> 2U) / lowest) | ripple;
  }
  return c;
}

}  // namespace

void availability(std::string const& prefix) {
  struct panel {
    std::size_t nodes;
    std::vector<char const*> codes;
  };
  std::vector<panel> const panels{
      {10, {"replicate:1", "replicate:2", "replicate:3", "parity:9", "ida:9,1", "ida:8,2", "ida:5,5"}},
      {32, {"replicate:2", "replicate:3", "parity:9", "ida:8,2", "ida:8,8", "ida:16,16"}}};
  std::string csv = "nodes,code,storage,lost,sets,survived,share\n";
  std::vector<skel::model::plot> plots;
  for (auto const& [nodes, codes] : panels) {
    skel::model::plot p;
    p.title = fmt::format("checkpoints of {} nodes that can be given back", nodes);
    p.x_label = "lost nodes";
    p.y_label = "share of the sets of lost nodes";
    for (auto const* const spec : codes) {
      code const how(spec);
      auto const parts = parts_of(how, nodes);
      auto const needed = static_cast<int>(how.data_shards());
      double const storage = static_cast<double>(how.shards()) / static_cast<double>(how.data_shards());
      skel::model::series line{fmt::format("{}, {:.3g} x the data", spec, storage), {}};
      for (std::size_t lost = 0; lost <= nodes; ++lost) {
        auto const c = count(parts, needed, nodes, lost);
        auto const share = static_cast<double>(c.survived) / static_cast<double>(c.sets);
        csv += fmt::format("{},\"{}\",{:.6g},{},{},{},{:.9g}\n", nodes, spec, storage, lost, c.sets,
                           c.survived, share);
        line.points.emplace_back(static_cast<double>(lost), share);
        if (c.survived == 0) break;  // nor when more are lost
      }
      fmt::print("{} nodes, {}: all of {} losses survived, half of those of {}\n", nodes, spec,
                 std::ranges::count_if(line.points, [](auto const& q) { return q.second == 1; }) - 1,
                 std::ranges::count_if(line.points, [](auto const& q) { return q.second >= 0.5; }) - 1);
      std::fflush(stdout);
      p.data.push_back(std::move(line));
    }
    plots.push_back(std::move(p));
  }
  skel::observe::write_file_atomically(prefix + ".csv", csv);
  skel::observe::write_file_atomically(prefix + ".svg", skel::model::to_svg(plots));
}

}  // namespace bench
