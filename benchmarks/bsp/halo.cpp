// The exchange of halo.hpp in supersteps: halo BYTES STEPS MICROSECONDS REPETITIONS ring|neighbours. Prints
// the seconds of a superstep, without the first one, and a hash of rank 0's cells per repetition.
#include "halo.hpp"

#include <cstdio>
#include <cstdlib>
#include <skel/skel.hpp>
#include <string>

template <>
struct skel::transfer_traits<halo_bench::cells> {
  static void pack(halo_bench::cells const& c, std::vector<std::byte>& out) {
    skel::pack(c.first, out);
    skel::pack(c.last, out);
  }
  static halo_bench::cells unpack(std::span<std::byte const>& in) {
    auto first = skel::unpack<halo_bench::halo>(in);
    return {std::move(first), skel::unpack<halo_bench::halo>(in)};
  }
};

namespace {

template <bool NamesNeighbours>
struct exchange {
  using state = halo_bench::cells;
  using message = halo_bench::halo;
  std::size_t words;
  std::uint64_t steps;
  double microseconds;
  double& started;  // when superstep 1 begins
  double& ended;    // and the last one ends

  [[nodiscard]] state begin(int rank, int) const { return halo_bench::beginning(rank, words); }
  [[nodiscard]] std::vector<int> neighbours(int rank, int size) const
    requires NamesNeighbours
  {
    return {(rank + size - 1) % size, (rank + 1) % size};
  }
  bool step(state& mine, skel::superstep<message>& now) const {
    int const before = (now.rank() + now.size() - 1) % now.size(), after = (now.rank() + 1) % now.size();
    if (now.number() > 0) {
      // By sender; a rank that is before and after sends its last cells first.
      auto const& got = now.received();
      bool const swapped = before > after;
      halo_bench::add(mine, got[swapped ? 1 : 0].content.data(), got[swapped ? 0 : 1].content.data());
    }
    if (now.number() == 1) started = bench::seconds();
    if (now.number() == steps) {
      ended = bench::seconds();
      return false;
    }
    halo_bench::compute(microseconds);
    now.send(after, mine.last);
    now.send(before, mine.first);
    return true;
  }
};

template <bool NamesNeighbours>
void measure(skel::context& ctx, char** argv) {
  auto const words = std::strtoull(argv[1], nullptr, 10) / sizeof(std::uint64_t);
  auto const steps = std::strtoull(argv[2], nullptr, 10);
  double started = 0, ended = 0;
  for (int r = 0; r < std::atoi(argv[4]); ++r) {
    auto const done =
        skel::bsp(ctx, exchange<NamesNeighbours>{words, steps, std::atof(argv[3]), started, ended});
    if (ctx.is_root())
      std::printf("program=skel repetition=%d step_seconds=%.9g hash=%llu\n", r,
                  (ended - started) / static_cast<double>(steps - 1),
                  static_cast<unsigned long long>(halo_bench::hash(done.value)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [&](skel::context& ctx) {
    if (argc != 6)
      throw skel::usage_error("usage: halo BYTES STEPS MICROSECONDS REPETITIONS ring|neighbours");
    if (std::string(argv[5]) == "neighbours")
      measure<true>(ctx, argv);
    else
      measure<false>(ctx, argv);
  });
}
