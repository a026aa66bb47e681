// Scenarios drawn from a seed, and running them.
#include <algorithm>

#include "harness.hpp"

namespace steal_harness {

std::string scenario::describe() const {
  return describe_ranks() + ", " + std::to_string(parent.size()) + " nodes, take " + (half ? "half" : "one") +
         ", order " + std::to_string(static_cast<int>(order)) +
         (records ? ", " + std::to_string(statements) + " statements" : "") + describe_trouble();
}

namespace {

scenario draw(std::uint64_t seed, bool must_die) {
  auto const own = [](scenario& s, auto const& below) {
    auto const nodes = 1 + below(below(4) == 0 ? 4 : 40);
    bool const narrow = below(4) == 0;  // nearly a chain
    for (std::uint64_t i = 0; i < nodes; ++i)
      s.parent.push_back(
          i == 0 ? -1 : static_cast<int>(narrow ? i - 1 - below(std::min<std::uint64_t>(i, 2)) : below(i)));
    s.half = below(2) == 0;
    s.order = static_cast<skel::ring_order>(below(3));
    s.records = below(2) == 0;
    s.statements = below(40);
    s.stops_early = s.records && below(6) == 0;
  };
  auto s = harness_common::draw_scenario<scenario>(seed, must_die, own, 4, 400);
  if (s.failing) s.failing = *s.failing % static_cast<int>(s.parent.size());
  return s;
}

}  // namespace

scenario random_scenario(std::uint64_t seed) { return draw(seed, false); }
scenario death_scenario(std::uint64_t seed) { return draw(seed, true); }

summary run(scenario const& s, fault* f) { return harness_common::run<world>(s, f); }

}  // namespace steal_harness
