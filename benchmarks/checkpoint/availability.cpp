#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "figures.hpp"
#include "skel/atomic_file.hpp"
#include "skel/model/plot.hpp"
#include "skel/storage/code.hpp"
#include "skel/storage/placement.hpp"

namespace bench {

namespace {

using namespace skel::storage;

// The number of shards of a part on each node.
using part = std::vector<std::size_t>;

// Each node saves a part. Parts on the same nodes are merged.
std::vector<part> parts_of(code const& how, std::size_t nodes) {
  std::vector<place> places;
  for (std::size_t n = 0; n < nodes; ++n) places.push_back({fmt::format("/node{}", n), "", false});
  std::vector<part> parts;
  for (std::uint32_t p = 0; p < nodes; ++p) {
    part one(nodes);
    for (auto const n : place_shards(places, how.shards(), {places[p].directory, p, 1, 0})) ++one[n];
    if (std::ranges::find(parts, one) == parts.end()) parts.push_back(std::move(one));
  }
  return parts;
}

using counts = std::vector<std::uint64_t>;  // numbers of sets of nodes, by the size of the set

// Tries every set of lost nodes separately.
counts try_all(std::vector<part> const& parts, std::size_t spare, std::size_t nodes) {
  counts survived(nodes + 1);
  for (std::uint64_t lost = 0; lost < std::uint64_t{1} << nodes; ++lost) {
    bool const all = std::ranges::all_of(parts, [&](part const& p) {
      std::size_t gone = 0;
      for (std::size_t n = 0; n < nodes; ++n) gone += ((lost >> n) & 1U) != 0 ? p[n] : 0;
      return gone <= spare;
    });
    if (all) ++survived[static_cast<std::size_t>(std::popcount(lost))];
  }
  return survived;
}

// Does the same for many nodes: nodes are lost or kept one after the other, and sets that have cost
// each part the same number of shards are merged.
counts count_together(std::vector<part> const& parts, std::size_t spare, std::size_t nodes) {
  std::map<part, counts> sets{{part(parts.size()), counts{1}}};  // by the lost shards of each part
  for (std::size_t n = 0; n < nodes; ++n) {
    std::map<part, counts> next;
    for (auto const& [before, many] : sets)
      for (std::size_t const lost : {0U, 1U}) {
        auto gone = before;
        for (std::size_t p = 0; p < parts.size(); ++p) gone[p] += lost * parts[p][n];
        if (std::ranges::any_of(gone, [&](auto g) { return g > spare; })) continue;
        for (std::size_t p = 0; p < parts.size(); ++p) {
          auto const to_come = std::accumulate(parts[p].begin() + static_cast<std::ptrdiff_t>(n) + 1,
                                               parts[p].end(), std::size_t{0});
          if (gone[p] + to_come <= spare) gone[p] = 0;  // further losses are irrelevant
        }
        auto& sum = next[gone];
        sum.resize(nodes + 1);
        for (std::size_t m = 0; m < many.size() && m + lost <= nodes; ++m) sum[m + lost] += many[m];
      }
    sets = std::move(next);
  }
  return sets.empty() ? counts(nodes + 1) : sets.begin()->second;
}

// Pascal's triangle: the number of sets.
counts binomials(std::size_t n) {
  counts row{1};
  for (std::size_t i = 0; i < n; ++i) {
    row.push_back(0);
    for (auto m = row.size() - 1; m > 0; --m) row[m] += row[m - 1];
  }
  return row;
}

}  // namespace

void availability(std::string const& prefix) {
  struct panel {
    std::size_t nodes;
    std::vector<char const*> codes;
  };
  std::vector<panel> const panels{
      {10, {"replicate:1", "replicate:2", "replicate:3", "parity:9", "ida:9,1", "ida:8,2", "ida:5,5"}},
      {32, {"replicate:2", "replicate:3", "parity:9", "ida:8,2", "ida:16,16"}}};
  std::string csv = "nodes,code,storage,lost,sets,survived,share\n";
  std::vector<skel::model::plot> plots;
  for (auto const& [nodes, codes] : panels) {
    skel::model::plot p;
    p.title = fmt::format("restorable checkpoints of {} nodes", nodes);
    p.x_label = "lost nodes";
    p.y_label = "share of the sets of lost nodes";
    for (auto const* const spec : codes) {
      code const how(spec);
      auto const parts = parts_of(how, nodes);
      auto const survived = count_together(parts, how.parity_shards(), nodes);
      constexpr std::size_t few = 16;
      if (nodes <= few && try_all(parts, how.parity_shards(), nodes) != survived)
        throw std::logic_error("availability: sets were miscounted");
      auto const all = binomials(nodes);
      double const storage = static_cast<double>(how.shards()) / static_cast<double>(how.data_shards());
      skel::model::series line{fmt::format("{}, {:.3g} x the data", spec, storage), {}};
      for (std::size_t lost = 0; lost <= nodes; ++lost) {
        auto const share = static_cast<double>(survived[lost]) / static_cast<double>(all[lost]);
        csv += fmt::format("{},\"{}\",{:.6g},{},{},{},{:.9g}\n", nodes, spec, storage, lost, all[lost],
                           survived[lost], share);
        line.points.emplace_back(static_cast<double>(lost), share);
        if (survived[lost] == 0) break;  // larger losses survive neither
      }
      fmt::print("{} nodes, {}: all of {} losses survived, half of those of {}\n", nodes, spec,
                 std::ranges::count_if(line.points, [](auto const& q) { return q.second == 1; }) - 1,
                 std::ranges::count_if(line.points, [](auto const& q) { return q.second >= 0.5; }) - 1);
      std::fflush(stdout);
      p.data.push_back(std::move(line));
    }
    plots.push_back(std::move(p));
  }
  skel::write_file_atomically(prefix + ".csv", csv);
  skel::write_file_atomically(prefix + ".svg", skel::model::to_svg(plots));
}

}  // namespace bench
