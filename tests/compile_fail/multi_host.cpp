#include <cstdint>
#include <memory>

#include "mistake.hpp"

namespace multi_host {

using u64 = std::uint64_t;

// A job with, in each section, a mistake in one of these types.
template <class Number = u64, class Unit = int&, class Packet = int>
struct slices {
  using carried = int;
  using unit = int;
  using packet = Packet;
  using result = int;
  u64 read(Number n, carried&, Unit into) const {
    into = static_cast<int>(n);
    return 1;
  }
  packet cut(unit const&, u64, u64) const { return {}; }
  result process(packet const&, std::size_t) const { return 0; }
};
template <class Job>
void run(skel::context& ctx, Job const& job) {
  skel::multi_host(ctx, 3, job, [](u64, u64, int) {});
}

// The result comes last.
// error: skel::multi_host: the sink's parameters, first the unit, then the piece and then the result, cannot
void swapped_sink(skel::context& ctx) {
  skel::multi_host(ctx, 3, slices{}, MISTAKE([](u64, u64, int) {}, [](int, u64, u64) {}));
}

// True could mean either continue or stop.
// error: skel::multi_host: the sink returns a bool, which ends nothing
void bool_sink(skel::context& ctx) {
  skel::multi_host(ctx, 3, slices{}, [](u64, u64, int x) { return MISTAKE(void(), x == 3); });
}

// A sink that takes no piece.
// error: skel::multi_host: the sink must be callable as sink(unit, piece, result&&).
void wrong_sink(skel::context& ctx) {
  skel::multi_host(ctx, 3, slices{}, MISTAKE([](u64, u64, int) {}, [](u64, int) {}));
}

// error: skel::multi_host: the parameters of read and cut cannot hold every number
void narrow_unit(skel::context& ctx) { run(ctx, slices<MISTAKE(int, short)>{}); }

// The data would be lost.
// error: skel::multi_host: read must take what it carries and the unit by reference
void read_into_copy(skel::context& ctx) { run(ctx, slices<u64, MISTAKE(int&, int)>{}); }

// error: skel::multi_host: the packet type cannot be sent.
void packet_not_sendable(skel::context& ctx) {
  run(ctx, slices<u64, int&, MISTAKE(int, std::shared_ptr<int>)>{});
}

// A job without cut.
// error: skel::multi_host: the job must have nested types carried, unit, packet and result
struct uncut {
  using carried = int;
  using unit = int;
  using packet = int;
  using result = int;
  u64 read(u64, carried&, unit&) const { return 1; }
  MISTAKE(
      packet cut(unit const&, u64, u64) const { return {}; }, )
  result process(packet const&, std::size_t) const { return 0; }
};
void no_job(skel::context& ctx) { run(ctx, uncut{}); }

}  // namespace multi_host
