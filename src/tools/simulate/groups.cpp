// Simulates groups: hosts read slices and workers process rows.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "skel/error.hpp"
#include "skel/multi_host.hpp"
#include "skel/serialization.hpp"
#include "skel/sim/run.hpp"
#include "tools/simulate/layer_costs.hpp"
#include "tools/simulate/simulation.hpp"

namespace skel::simulate {

namespace {

// Limits the number of simultaneous reads and writes. All ranks are fibers of one thread, so no lock
// is needed.
class disks {
 public:
  explicit disks(unsigned n) : free_at_(n) {}
  // Reserves the disk that is free first for `seconds`, and waits until then.
  void wait_for_one(double seconds) {
    if (free_at_.empty()) return;
    auto const first = std::min_element(free_at_.begin(), free_at_.end());
    double const begin = std::max(sim::now(), *first);
    *first = begin + seconds;
    if (begin > sim::now()) sim::spend(begin - sim::now());
  }

 private:
  std::vector<double> free_at_;
};

// Common to all ranks.
struct shared_state {
  explicit shared_state(unsigned n) : disk(n) {}
  disks disk;
  std::vector<double> first_reads;  // seconds, in the order in which hosts begin their shares
};

// A host reads row by row, and sends packets as rows become available.
struct simulated_layers {
  struct carried {};
  struct unit {
    std::uint64_t number = 0;
  };
  struct packet {
    std::uint64_t unit = 0, first = 0;
    std::vector<std::byte> rows;
    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& unit& first& rows;
    }
  };
  using result = std::vector<std::byte>;

  layer_costs const& costs;
  bool by_rows, computed;
  std::shared_ptr<shared_state> shared;

  [[nodiscard]] static std::uint64_t history() { return 1; }
  std::uint64_t read_rows(std::uint64_t number, bool first, unit& into, pieces_ready const& ready) const {
    into.number = number;
    auto const rows = costs.rows(number);
    double seconds = 0;
    for (std::uint64_t row = 0; row < rows; ++row) seconds += costs.ready_seconds(number, row, first);
    if (first) shared->first_reads.push_back(seconds);
    if (!computed) shared->disk.wait_for_one(seconds);
    if (!by_rows) {
      sim::spend(seconds);
      return rows;
    }
    for (std::uint64_t row = 0; row < rows; ++row) {
      sim::spend(costs.ready_seconds(number, row, first));
      if (row + 1 < rows) ready(row + 1);
    }
    return rows;
  }
  std::uint64_t read(std::uint64_t number, carried&, unit& into, pieces_ready const& ready) const {
    return read_rows(number, false, into, ready);
  }
  std::uint64_t read_first(std::uint64_t number, carried&, unit& into, pieces_ready const& ready) const {
    return read_rows(number, true, into, ready);
  }
  [[nodiscard]] packet cut(unit const& from, std::uint64_t first, std::uint64_t count) const {
    return {from.number, first, std::vector<std::byte>(costs.packet_bytes(from.number, count))};
  }
  [[nodiscard]] result process(packet const& p, std::size_t i) const {
    sim::spend(costs.row_seconds(p.unit, p.first + i));
    return result(costs.result_bytes(p.unit, p.first + i), static_cast<std::byte>(p.unit));
  }
};

multi_host_options parse(group_options const& o) {
  multi_host_options how;
  how.group_size = o.group_size;
  how.measures.preload = o.preload;
  how.results = o.sink == "root" ? multi_host_options::unit_results::in_order
                                 : multi_host_options::unit_results::on_hosts;
  auto const without = [&](char const* name) {
    return std::find(o.without.begin(), o.without.end(), name) != o.without.end();
  };
  how.measures.reassign = !without("reassign");
  how.measures.split_shares = !without("split");
  how.measures.host_helps = !without("host-helps");
  if (without("read-ahead")) how.measures.read_ahead = 0;
  return how;
}

}  // namespace

void simulate_groups(context& ctx, group_options const& g, layer_costs const& costs, result& out,
                     std::shared_ptr<void>& shared) {
  if (!shared) shared = std::make_shared<shared_state>(g.disks.disks);
  auto const common = std::static_pointer_cast<shared_state>(shared);
  bool const by_rows = std::find(g.without.begin(), g.without.end(), "rows") == g.without.end();
  simulated_layers const job{costs, by_rows, g.disks.computed_slices, common};
  std::size_t layer_bytes = 0;
  auto const r = multi_host(
                     ctx, costs.layers(), job,
                     [&](std::uint64_t unit, std::uint64_t piece, simulated_layers::result&& bytes) {
                       bool const right = bytes.size() == costs.result_bytes(unit, piece) &&
                                          (bytes.empty() || bytes[0] == static_cast<std::byte>(unit));
                       if (!right) ++out.wrong;
                       layer_bytes += bytes.size();
                       if (g.disks.write_bandwidth == 0 || piece + 1 < costs.rows(unit)) return;
                       // As skel-isosurface -o x.pvtp: a layer is written when it is complete.
                       double const seconds =
                           static_cast<double>(std::exchange(layer_bytes, 0)) / g.disks.write_bandwidth;
                       common->disk.wait_for_one(seconds);
                       sim::spend(seconds);
                     },
                     parse(g))
                     .report;
  if (!ctx.is_root()) return;
  out.cost = costs.total_seconds();
  // What hosts preload does not count as work.
  if (g.preload)
    for (std::size_t host = 0; host < r.groups->sizes.size(); ++host) out.cost -= common->first_reads[host];
  out.run.run = r;
  out.traces = ctx.traces();
}

}  // namespace skel::simulate
