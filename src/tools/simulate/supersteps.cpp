// Simulates supersteps: every rank computes its share and sends messages to its neighbours.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "skel/bsp.hpp"
#include "skel/error.hpp"
#include "skel/sim/run.hpp"
#include "tools/simulate/simulation.hpp"

namespace skel::simulate {

namespace {

// A domain of `parts` equal parts, one for each rank at the start. After a loss the remaining ranks
// share them, so some compute two.
template <bool NamesNeighbours>
struct simulated_supersteps {
  using state = std::uint64_t;  // the supersteps that this rank has completed
  using message = std::vector<std::uint8_t>;

  superstep_options const& how;
  std::vector<double> const& costs;  // of each part, superstep by superstep
  std::uint64_t parts;
  result& out;

  [[nodiscard]] static state begin(int, int) { return 0; }
  // Lets the run survive losses. Without a checkpoint it begins again, and nothing is ever split.
  [[nodiscard]] static bsp_part<simulated_supersteps> split(bsp_parts<simulated_supersteps> const&, int,
                                                            int) {
    throw error("a simulated run has no checkpoint to split");
  }

  [[nodiscard]] std::vector<int> neighbours(int rank, int size) const
    requires NamesNeighbours
  {
    return receivers(rank, size);
  }

  bool step(state& completed, superstep<message>& now) const {
    check(now);
    sim::spend(seconds(now));
    ++completed;
    if (completed == how.supersteps) return false;
    for (int const to : receivers(now.rank(), now.size())) now.send(to, content(now.number(), now.rank()));
    return true;
  }

 private:
  // The bytes encode superstep and sender, so that the receiver can check every message.
  [[nodiscard]] message content(std::uint64_t step, int from) const {
    message m(how.message_bytes);
    auto const code = step << 16U ^ static_cast<std::uint64_t>(from);
    for (std::size_t i = 0; i < m.size(); ++i) m[i] = static_cast<std::uint8_t>(code >> (i % 8 * 8));
    return m;
  }
  // Being a neighbour is mutual. In a ring of two, each rank is the other's neighbour on both sides.
  [[nodiscard]] std::vector<int> receivers(int rank, int n) const {
    if (n == 1) return {};
    if (how.pattern != "all") return {(rank + n - 1) % n, (rank + 1) % n};
    std::vector<int> others;
    for (int r = 0; r < n; ++r)
      if (r != rank) others.push_back(r);
    return others;
  }
  void check(superstep<message>& now) const {
    auto expected = now.number() == 0 ? std::vector<int>{} : receivers(now.rank(), now.size());
    std::ranges::sort(expected);  // messages arrive in the order of ranks
    auto const& got = now.received();
    bool right = got.size() == expected.size();
    for (std::size_t i = 0; right && i < got.size(); ++i)
      right = got[i].from == expected[i] && got[i].content == content(now.number() - 1, got[i].from);
    if (!right) ++out.wrong;
  }
  [[nodiscard]] double seconds(superstep<message> const& now) const {
    auto const bound = [&](int rank) {
      return static_cast<std::uint64_t>(rank) * parts / static_cast<std::uint64_t>(now.size());
    };
    double sum = 0;
    for (auto part = bound(now.rank()); part < bound(now.rank() + 1); ++part)
      sum += costs[now.number() * parts + part];
    return sum;
  }
};

template <bool NamesNeighbours>
void run_supersteps(context& ctx, superstep_options const& o, std::vector<double> const& costs, result& out) {
  simulated_supersteps<NamesNeighbours> const program{o, costs, costs.size() / o.supersteps, out};
  auto const r = bsp(ctx, program);
  if (r.value != o.supersteps) ++out.wrong;
  if (!ctx.is_root()) return;
  out.run.run = r.report;
  out.run.problem = {{"pattern", o.pattern}, {"message_bytes", std::to_string(o.message_bytes)}};
  out.traces = ctx.traces();
}

}  // namespace

void simulate_supersteps(context& ctx, superstep_options const& o, std::vector<double> const& costs,
                         result& out) {
  if (o.pattern == "neighbours")
    run_supersteps<true>(ctx, o, costs, out);
  else
    run_supersteps<false>(ctx, o, costs, out);
}

}  // namespace skel::simulate
