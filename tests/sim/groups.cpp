// multi_host on simulated clusters: the same results as anywhere, and what the paper's measures are worth.
#include <algorithm>

#include "catch.hpp"
#include "forked.hpp"
#include "skel/multi_host.hpp"
#include "skel/sim/run.hpp"

namespace sim = skel::sim;

namespace {

// Layers of 64 rows between slices; a slice takes 1.22 s to read and a layer 16.1 s to process, as in the
// paper's tables 1 and 2.
struct layers {
  struct carried {
    std::uint64_t next = 0;
  };
  struct unit {
    std::uint64_t number = 0;
  };
  struct packet {
    std::uint64_t unit = 0, first = 0;
  };
  using result = std::uint64_t;
  static constexpr std::uint64_t rows = 64;
  double dear_share = 1;  // all work is in this share of the 64 layers

  [[nodiscard]] static std::uint64_t history() { return 1; }
  [[nodiscard]] double row_seconds(std::uint64_t number) const {
    auto const dear = static_cast<std::uint64_t>(64 * dear_share);
    return number < dear ? 16.1 * 64 / static_cast<double>(dear * rows) : 0;
  }
  std::uint64_t read_rows(std::uint64_t number, unit& into, double slices,
                          skel::pieces_ready const& ready) const {
    into.number = number;
    for (std::uint64_t r = 1; r <= rows; ++r) {
      sim::spend(slices * 1.22 / rows);
      ready(r);
    }
    return rows;
  }
  std::uint64_t read(std::uint64_t number, carried& c, unit& into, skel::pieces_ready const& ready) const {
    if (c.next++ != number) throw std::runtime_error("units out of order");
    return read_rows(number, into, 1, ready);
  }
  // Both slices row by row: packets leave with the rows.
  std::uint64_t read_first(std::uint64_t number, carried& c, unit& into,
                           skel::pieces_ready const& ready) const {
    c.next = number + 1;
    return read_rows(number, into, 2, ready);
  }
  [[nodiscard]] packet cut(unit const& from, std::uint64_t first, std::uint64_t) const {
    return {from.number, first};
  }
  [[nodiscard]] result process(packet const& p, std::size_t i) const {
    sim::spend(row_seconds(p.unit));
    return p.unit * rows + p.first + i;
  }
};

struct found {
  double exit_code, right, seconds, units, lost, again, groups, moved, preload;
};

found run(sim::platform const& p, skel::multi_host_options const& how, double dear_share = 1) {
  auto const n = forked::run([&] {
    std::vector<double> out(9);
    sim::run_options options;
    options.suspect_after_seconds = 0.5;
    auto const end = sim::run(
        p,
        [&](skel::context& ctx) {
          layers job;
          job.dear_share = dear_share;
          std::uint64_t next = 0;
          bool right = true;
          auto const r = skel::multi_host(
                             ctx, 64, job,
                             [&](std::uint64_t unit, std::uint64_t piece, layers::result&& value) {
                               right = right && value == next && unit == next / layers::rows &&
                                       piece == next % layers::rows;
                               ++next;
                             },
                             how)
                             .report;
          if (!ctx.is_root()) return;
          right = right && next == 64 * layers::rows;
          out = {0,
                 right ? 1.0 : 0.0,
                 r.seconds,
                 static_cast<double>(r.tasks),
                 static_cast<double>(r.lost_ranks.size()),
                 static_cast<double>(r.tasks_handed_out_again),
                 static_cast<double>(r.groups->sizes.size()),
                 static_cast<double>(r.groups->reassigned),
                 r.groups->preload_seconds};
        },
        options);
    out[0] = end.exit_code;
    return out;
  });
  REQUIRE(n.size() == 9);
  CHECK(n[0] == 0);
  CHECK(n[1] == 1);
  return {n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8]};
}

sim::platform delta(int ranks) {
  auto p = sim::platform::ready("delta-256");
  p.take(ranks);
  return p;
}

skel::multi_host_options of_size(unsigned n) {
  skel::multi_host_options how;
  how.group_size = n;
  return how;
}

// Per node, as the paper has it: one node's time over ranks times seconds.
double speed(found const& f, int ranks) { return (65 * 1.22 + 64 * 16.1) / (ranks * f.seconds); }

}  // namespace

TEST_CASE("groups of eight stay efficient where one host is a bottleneck (tables 1 and 2)") {
  auto const eight = run(delta(8), of_size(8));
  CHECK(eight.groups == 1);
  CHECK(speed(eight, 8) > 0.96);  // printed: 0.964
  auto const one_host = run(delta(64), of_size(64));
  CHECK(one_host.seconds > 64 * 1.22);  // "the bottleneck occurs when the PE number is more than 8"
  CHECK(speed(one_host, 64) < 0.25);
  auto const groups = run(delta(64), of_size(8));
  CHECK(groups.groups == 8);
  CHECK(speed(groups, 64) > 0.9);  // printed: 0.830
  auto const again = run(delta(64), of_size(8));
  CHECK(again.seconds == groups.seconds);  // to the last bit
}

TEST_CASE("with few units per rank the automatic size ends within 5 % of the best") {
  double least = run(delta(64), of_size(1)).seconds;
  for (unsigned const size : {2U, 4U, 6U, 8U}) least = std::min(least, run(delta(64), of_size(size)).seconds);
  CHECK(run(delta(64), of_size(0)).seconds < 1.05 * least);
}

TEST_CASE("256 nodes, and what preloading is worth (tables 2 and 4)") {
  auto const groups = run(delta(256), of_size(8));
  CHECK(speed(groups, 256) > 0.80);  // printed: 0.564
  auto how = of_size(8);
  how.measures.preload = true;
  auto const preloaded = run(delta(256), how);
  CHECK(speed(preloaded, 256) > 0.92);  // printed: 0.826; preloaded slices count as the paper counts them
  CHECK(preloaded.preload >= 2.44);
}

TEST_CASE("on an uneven field ranks that move are worth more than twice their number (5.2)") {
  auto how = of_size(8);
  auto const moving = run(delta(128), how, 0.1);
  CHECK(moving.moved > 0);
  how.measures.reassign = false;
  auto const fixed = run(delta(128), how, 0.1);
  CHECK(fixed.moved == 0);
  CHECK(fixed.seconds > 2 * moving.seconds);
}

// A change to the length of packets once made such runs two to three times slower where 16 ranks worked; with
// 128 it was hardly seen.
TEST_CASE("what moving ranks are worth where all work is in a tenth of the units") {
  struct clusters {
    int ranks;
    unsigned group_size;
    double gain;
  };
  for (auto const& [ranks, group_size, gain] :
       {clusters{16, 4, 2.7}, {64, 4, 6}, {64, 8, 3.6}, {256, 8, 3.3}}) {  // found: 3.19, 7.08, 4.25, 3.89
    auto how = of_size(group_size);
    auto const moving = run(delta(ranks), how, 0.1).seconds;
    how.measures.reassign = false;
    auto const fixed = run(delta(ranks), how, 0.1).seconds;
    CAPTURE(ranks, group_size, moving, fixed);
    CHECK(fixed > gain * moving);
  }
}

TEST_CASE("hosts that do not help are slower (5.1)") {
  auto const best = run(delta(16), of_size(8)).seconds;
  auto const without = [&](auto change) {
    auto how = of_size(8);
    change(how);
    return run(delta(16), how).seconds;
  };
  CHECK(without([](auto& o) { o.measures.host_helps = false; }) > 1.02 * best);
}

TEST_CASE("ranks die on a cluster of 128, hosts among them") {
  auto p = delta(128);
  for (int i = 0; i < 12; ++i) p.failures.push_back({4 + i * 10, 1.0 + 0.5 * i});  // every second one leads
  auto const f = run(p, of_size(2));
  CHECK(f.lost == 12);
  CHECK(f.again > 0);
}

TEST_CASE("unequal machines: groups of equal power") {
  auto const p = sim::platform::ready("uneven:ranks=32,seed=1");
  auto how = of_size(4);
  how.measures.measure_power = true;
  auto const f = run(p, how);
  CHECK(f.seconds < 1.6 * p.ideal_seconds(64 * (1.22 + 16.1)));
}
