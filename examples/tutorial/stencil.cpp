// A stencil in supersteps with checkpoints: heat in a ring of cells. Started again with --resume, it
// goes on from the last checkpoint.
//     mkdir store && mpiexec -n 4 stencil store
#include <algorithm>
#include <cstdio>
#include <skel/skel.hpp>
#include <vector>

constexpr int cells = 48, steps = 200;

struct ring {
  using state = std::vector<double>;  // this rank's cells
  using message = double;             // an end cell
  static int first(int rank, int size) { return cells * std::min(rank, owners(size)) / owners(size); }
  static int owners(int size) { return std::min(size, cells); }  // further ranks have no cells
  state begin(int rank, int size) const {
    state mine(static_cast<std::size_t>(first(rank + 1, size) - first(rank, size)));
    if (rank == 0) mine[0] = 1000;
    return mine;
  }
  std::vector<int> neighbours(int rank, int size) const {  // the only ranks to wait for
    int const n = owners(size);
    return rank < n ? std::vector{(rank + n - 1) % n, (rank + 1) % n} : std::vector<int>{};
  }
  bool step(state& mine, skel::superstep<double>& now) const {
    if (mine.empty()) return now.number() < steps;
    int const n = owners(now.size()), before = (now.rank() + n - 1) % n, after = (now.rank() + 1) % n;
    if (now.number() > 0) {
      double left = 0, right = 0;
      auto const& got = now.received();  // ordered by sender; a neighbour sends its last cell first
      for (std::size_t i = 0; i < got.size(); ++i)
        (got[i].from == before && (before != after || i == 0) ? left : right) = got[i].content;
      state old = mine;
      for (std::size_t i = 0; i < mine.size(); ++i)
        mine[i] = old[i] + 0.2 * ((i > 0 ? old[i - 1] : left) - 2 * old[i] +
                                  (i + 1 < mine.size() ? old[i + 1] : right));
    }
    if (now.number() == steps) return false;
    now.send(after, mine.back());
    now.send(before, mine.front());
    return true;
  }
};

int main(int argc, char** argv) {
  auto const body = [&](skel::context& ctx) {
    skel::bsp_options options;
    if (argc > 1) {
      auto& where = options.checkpoint.emplace(skel::checkpoint_options{.store = {argv[1]}});
      where.problem = std::to_string(cells) + " cells, " + std::to_string(steps) + " steps";
      where.every_seconds = 0;  // a real program would save less often
      if (argc > 2 && std::string(argv[2]) == "--resume")
        where.resume = skel::checkpoint_options::resume_mode::yes;
    }
    if (auto const parts = skel::gather(ctx, ring{}, options).value)  // on the root
      for (auto const& part : *parts)
        for (double const t : part) std::printf("%.12f\n", t);
  };
  return skel::run_main(argc, argv, skel::restartable(body));
}
