// Checkpoints of states whose values are replaced before the writer has packed them.
#include <atomic>
#include <stdexcept>

#include "over_hub.hpp"
#include "skel/immutable.hpp"

using namespace bsp_test;

namespace {

// Packs so slowly that the next supersteps are computed before packing ends.
struct slow_cells {
  std::vector<std::uint64_t> cells;
};
std::atomic<bool> packing_fails{false};

// Each rank also holds an immutable copy of its cells, replaced in each superstep.
struct replacing_circle : splitting_circle {
  struct state : circle::state {
    skel::immutable<slow_cells> copy;
  };
  [[nodiscard]] state begin(int rank, int size) const { return with_copy({circle::begin(rank, size), {}}); }
  bool step(state& s, skel::superstep<message>& now) const {
    check(s);
    bool const goes_on = circle::step(s, now);
    s = with_copy(std::move(s));
    return goes_on;
  }
  [[nodiscard]] skel::bsp_part<replacing_circle> split(skel::bsp_parts<replacing_circle> const& parts,
                                                       int rank, int size) const {
    for (int i = 0; i < parts.size(); ++i) check(parts[i].state);
    auto part = cut(parts, rank, size);
    part.state = with_copy(std::move(part.state));
    return part;
  }
  static state with_copy(state s) {
    s.copy = slow_cells{s.cells};
    return s;
  }
  static void check(state const& s) {
    if (s.copy->cells != s.cells) throw std::logic_error("a copy of another superstep");
  }
};

}  // namespace

template <>
struct skel::transfer_traits<slow_cells> {
  static void pack(slow_cells const& s, std::vector<std::byte>& out) {
    std::this_thread::sleep_for(5ms);
    if (packing_fails) throw std::runtime_error("packing fails");
    skel::pack(s.cells, out);
  }
  static slow_cells unpack(std::span<std::byte const>& in) {
    return {skel::unpack<std::vector<std::uint64_t>>(in)};
  }
};

template <>
struct skel::transfer_traits<replacing_circle::state> {
  static void pack(replacing_circle::state const& s, std::vector<std::byte>& out) {
    skel::pack(s.copy, out);
    skel::pack<circle::state>(s, out);
  }
  static replacing_circle::state unpack(std::span<std::byte const>& in) {
    auto copy = skel::unpack<skel::immutable<slow_cells>>(in);
    return {skel::unpack<circle::state>(in), copy};
  }
};

TEST_CASE("a checkpoint has the values of its superstep even if they are replaced later") {
  for (auto const& [before, after] : {std::pair{3, 3}, {3, 2}, {2, 5}, {1, 1}, {1, 3}}) {
    INFO(before << " ranks, then " << after);
    store const where;
    run_until(before, replacing_circle{}, where, 20);
    auto const e = run(after, replacing_circle{}, where.options(true));
    for (auto const& text : e.errors) CHECK(text.empty());
    CHECK(e.whole == expected());
    REQUIRE(e.run.checkpoint);
    CHECK(e.run.checkpoint->restored_generation > 0);
  }
}

TEST_CASE("an exception during delayed packing fails the checkpoint, not the run") {
  for (int const ranks : {1, 3}) {
    INFO(ranks);
    store const where;
    packing_fails = true;
    replacing_circle p;
    p.event = [](int, std::uint64_t) { std::this_thread::sleep_for(2ms); };
    auto options = where.options(false);
    options.checkpoint->every_seconds = 0.02;
    auto const e = run(ranks, p, options);
    packing_fails = false;
    for (auto const& text : e.errors) CHECK(text.empty());
    CHECK(e.whole == expected());
    REQUIRE(e.run.checkpoint);
    CHECK(e.run.checkpoint->saved == 0);
    CHECK(e.run.checkpoint->failed > 0);
  }
}
