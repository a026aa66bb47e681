// Calibration on a simulated cluster finds the true values within 5 %. A platform defines them
// (docs/reference/simulation.md): a message takes latency + bytes / bandwidth, and links are shared fairly.

#include "../sim/forked.hpp"
#include "catch.hpp"
#include "skel/sim/run.hpp"
#include "tools/calibration/calibrate.hpp"

namespace sim = skel::sim;
using namespace skel::model;

namespace {

struct found {
  double l, g, l_size, l_number, g_size, g_number;
  double ping_pong_latency, ping_pong_gap, exchange_latency, exchange_gap, pieces;
};

sim::platform equal(int ranks, sim::network wires) {
  sim::platform p;
  p.name = "equal";
  for (int r = 0; r < ranks; ++r) p.machines.push_back({"m", 1.0});
  p.wires = std::move(wires);
  return p;
}

found calibrated(sim::platform const& p, char const* kind = "raw") {
  auto const n = forked::run(
      [&] {
        std::vector<double> numbers;
        calibrate_options o;
        o.ranks = {p.ranks()};
        o.kinds = {kind};
        o.repetitions = 5;
        o.largest_bytes = 1 << 20;
        o.seconds_per_pattern = 1e6;  // virtual seconds
        auto const end = sim::run(p, [&](skel::context& ctx) {
          auto const m = calibrate(ctx, o);
          if (!ctx.is_root()) return;
          auto const& a = m.at.at(0);
          auto const& small = a.ping_pong.pieces.front();
          auto const& large = a.ping_pong.pieces.back();
          auto const& pair = a.exchange.pieces.back();
          numbers = {a.latency_seconds,
                     a.gap_seconds_per_byte,
                     a.latency_by_size,
                     a.latency_by_number,
                     a.gap_by_size,
                     a.gap_by_number,
                     small.latency_seconds,
                     large.gap_seconds_per_byte,
                     pair.latency_seconds,
                     pair.gap_seconds_per_byte,
                     static_cast<double>(a.ping_pong.pieces.size() + a.exchange.pieces.size())};
        });
        if (end.exit_code != 0 || !end.failure.empty()) throw std::runtime_error("failed: " + end.failure);
        return numbers;
      },
      100);
  REQUIRE(n.size() == 11);
  return {n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10]};
}

void check(found const& f, double l, double g, double message_latency, double message_gap) {
  constexpr double five_percent = 0.05;
  INFO("l " << f.l_size << " " << f.l_number << ", g " << f.g_size << " " << f.g_number);
  CHECK(f.l == Approx(l).epsilon(five_percent));
  CHECK(f.l_size == Approx(l).epsilon(five_percent));
  CHECK(f.l_number == Approx(l).epsilon(five_percent));
  CHECK(f.g == Approx(g).epsilon(five_percent));
  CHECK(f.g_size == Approx(g).epsilon(five_percent));
  CHECK(f.g_number == Approx(g).epsilon(five_percent));
  CHECK(f.ping_pong_latency == Approx(message_latency).epsilon(five_percent));
  CHECK(f.ping_pong_gap == Approx(message_gap).epsilon(five_percent));
  CHECK(f.pieces == 2);
}

}  // namespace

TEST_CASE("the paper's cluster: l = 2.43e-4 s, g = 1.51e-7 s per word at 8 processors") {
  auto p = sim::platform::ready("pentium4-14");
  p.take(8);
  auto const f = calibrated(p);
  check(f, 2.43e-4, 1.51e-7 / 4, 2.43e-4, 1.51e-7 / 4);
  // A full-duplex link carries both directions at once.
  CHECK(f.exchange_latency == Approx(2.43e-4).epsilon(0.05));
  CHECK(f.exchange_gap == Approx(1.51e-7 / 4).epsilon(0.05));
}

TEST_CASE("the parameters of a switch are found") {
  for (int const ranks : {2, 3, 6}) {
    auto const f = calibrated(equal(ranks, {sim::network_kind::star, 1e-5, 1e9}));
    check(f, 1e-5, 1e-9, 1e-5, 1e-9);
  }
}

TEST_CASE("all ranks share a bus: g grows with their number") {
  auto const f = calibrated(equal(4, {sim::network_kind::bus, 1e-3, 1.25e6}));
  check(f, 1e-3, 4 / 1.25e6, 1e-3, 1 / 1.25e6);
  CHECK(f.exchange_gap == Approx(4 / 1.25e6).epsilon(0.05));
}

TEST_CASE("processor overheads are part of the latency") {
  auto p = equal(2, {sim::network_kind::star, 1e-5, 1e9});
  p.send_overhead_seconds = 4e-5;
  p.receive_overhead_seconds = 3e-5;
  auto const f = calibrated(p);
  CHECK(f.ping_pong_latency == Approx(8e-5).epsilon(0.05));
  CHECK(f.l_number == Approx(8e-5).epsilon(0.05));
}

TEST_CASE("serialised values have more bytes at the same cost per byte") {
  auto const f = calibrated(equal(2, {sim::network_kind::star, 1e-5, 1e9}), "serialised");
  CHECK(f.ping_pong_gap == Approx(1e-9).epsilon(0.05));
  CHECK(f.g_size == Approx(1e-9).epsilon(0.05));
}
