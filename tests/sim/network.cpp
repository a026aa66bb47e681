// A message takes latency and bytes / bandwidth, on every kind of network.

#include "catch.hpp"
#include "forked.hpp"
#include "skel/farm.hpp"
#include "skel/sim/run.hpp"

namespace sim = skel::sim;

namespace {

// One task, computed by rank 1 of two whose result has `bytes`; the virtual time when its sink is called,
// from the end of the task on.
double result_time(sim::platform p, int worker, std::size_t bytes) {
  auto const numbers = forked::run([&] {
    double finished = 0;
    double arrived = 0;
    sim::run_options alone;
    alone.suspect_after_seconds = 0;  // no heartbeats beside the result
    auto const body = [&](skel::context& ctx) {
      std::vector<double> power(static_cast<std::size_t>(ctx.size()), 1e-9);
      skel::farm(
          ctx, skel::indices(static_cast<std::uint64_t>(ctx.size())),
          [&](std::uint64_t rank) {
            sim::spend(10);
            if (rank == static_cast<std::uint64_t>(worker)) finished = sim::now();
            return std::vector<std::uint8_t>(rank == static_cast<std::uint64_t>(worker) ? bytes : 0);
          },
          skel::schedule::interleaved{},
          [&](skel::task_id task, std::vector<std::uint8_t>&&) {
            if (task == static_cast<std::uint64_t>(worker)) arrived = sim::now();
          });
    };
    sim::run(p, body, alone);
    return std::vector<double>{arrived - finished};
  });
  REQUIRE(numbers.size() == 1);
  return numbers[0];
}

sim::platform two(sim::network wires, int ranks) {
  sim::platform p;
  for (int r = 0; r < ranks; ++r) p.machines.push_back({"m", r == 0 ? 1.0 : 0.5 + r * 0.01});
  p.wires = std::move(wires);
  return p;
}

}  // namespace

TEST_CASE("a result's way takes latency and bytes over bandwidth") {
  struct expectation {
    sim::network_kind kind;
    std::vector<unsigned> dimensions;
    int ranks, worker, links;
  };
  // Links between rank 0 and the worker: one by definition for a bus and a switch.
  std::vector<expectation> const all = {
      {sim::network_kind::bus, {}, 2, 1, 1},         {sim::network_kind::star, {}, 3, 2, 1},
      {sim::network_kind::hypercube, {}, 16, 15, 4}, {sim::network_kind::hypercube, {}, 16, 8, 1},
      {sim::network_kind::torus, {4, 4}, 16, 15, 2}, {sim::network_kind::mesh, {4, 4}, 16, 15, 6},
      {sim::network_kind::mesh, {4, 4}, 16, 12, 3}};
  for (auto const& e : all) {
    sim::network wires;
    wires.kind = e.kind;
    wires.dimensions = e.dimensions;
    wires.latency_seconds = 0.01;
    wires.bandwidth_bytes_per_second = 1e6;
    INFO(static_cast<int>(e.kind) << " to rank " << e.worker);
    auto const p = two(wires, e.ranks);
    double const small = result_time(p, e.worker, 0);
    CHECK(small == Approx(0.01 * e.links).margin(2e-4));  // the message has a header
    CHECK(result_time(p, e.worker, 500000) - small == Approx(0.5).epsilon(1e-3));
  }
}

TEST_CASE("a fat tree's machines are two or four links apart") {
  sim::network wires;
  wires.kind = sim::network_kind::fat_tree;
  wires.down = {4, 4};
  wires.up = {1, 4};
  wires.parallel = {1, 1};
  wires.latency_seconds = 0.01;
  wires.bandwidth_bytes_per_second = 1e6;
  auto const p = two(wires, 16);
  CHECK(result_time(p, 1, 0) == Approx(0.02).margin(2e-4));
  CHECK(result_time(p, 15, 0) == Approx(0.04).margin(2e-4));
  CHECK(result_time(p, 15, 500000) == Approx(0.54).margin(2e-3));
}

TEST_CASE("processors are busy with messages where the platform says so") {
  sim::network wires;
  wires.latency_seconds = 0.01;
  auto p = two(wires, 2);
  p.send_overhead_seconds = 0.002;
  p.receive_overhead_seconds = 0.003;
  CHECK(result_time(p, 1, 0) == Approx(0.015).margin(1e-6));
}

TEST_CASE("a small message does not wait behind a large one of another rank") {
  sim::network wires;
  wires.bandwidth_bytes_per_second = 1e6;
  auto const p = two(wires, 3);
  auto const numbers = forked::run([&] {
    sim::run_options patient;
    patient.suspect_after_seconds = 0;  // signs of life of rank 1 wait behind its result
    std::vector<double> arrived(3);
    sim::run(
        p,
        [&](skel::context& ctx) {
          skel::farm(
              ctx, skel::indices(3),
              [&](std::uint64_t task) {
                sim::spend(task == 1 ? 0.1 : 1);  // rank 1 is first, and has much to send
                return std::vector<std::uint8_t>(task == 1 ? 20000000 : 10);
              },
              skel::schedule::interleaved{},
              [&](skel::task_id task, std::vector<std::uint8_t>&&) { arrived[task] = sim::now(); });
        },
        patient);
    return arrived;
  });
  REQUIRE(numbers.size() == 3);
  CHECK(numbers[2] < 3);
  CHECK(numbers[1] > 20);
}
