// Draws scenarios from a seed and runs them.
#include <algorithm>
#include <random>

#include "harness.hpp"

namespace steal_harness {

std::string scenario::describe() const {
  return describe_ranks() + ", " + std::to_string(parent.size()) + " nodes, take " + (half ? "half" : "one") +
         ", order " + std::to_string(static_cast<int>(order)) + (records ? ", records" : "") +
         (bounded ? ", bounded" : "") + ", " + std::to_string(statements) + " statements" +
         (retirements > 0
              ? ", retirements " + std::to_string(retirements) + "/" + std::to_string(changes_of_mind)
              : "") +
         (poison ? ", poison " + std::to_string(*poison) + (last_words ? ", last words" : "") : "") + ", " +
         std::to_string(most_parcels) + " parcels, blamed after " + std::to_string(most_losses) +
         describe_trouble();
}

namespace {

scenario draw(std::uint64_t seed, bool must_die) {
  auto const own = [](scenario& s, auto const& below) {
    auto const nodes = 1 + below(below(4) == 0 ? 4 : 40);
    bool const narrow = below(4) == 0;  // the tree is nearly a chain
    for (std::uint64_t i = 0; i < nodes; ++i)
      s.parent.push_back(
          i == 0 ? -1 : static_cast<int>(narrow ? i - 1 - below(std::min<std::uint64_t>(i, 2)) : below(i)));
    s.half = below(2) == 0;
    s.order = static_cast<skel::schedule::ring_order>(below(3));
    s.records = below(2) == 0;
    s.statements = below(40);
    s.stops_early = s.records && below(6) == 0;
    s.most_losses = static_cast<unsigned>(below(4));
  };
  auto s = harness_common::draw_scenario<scenario>(seed, must_die, own, 4, 400);
  s.bounded = seed % 2 == 0;
  if (s.failing) s.failing = *s.failing % static_cast<int>(s.parent.size());
  return s;
}

}  // namespace

scenario random_scenario(std::uint64_t seed) { return draw(seed, false); }
scenario death_scenario(std::uint64_t seed) { return draw(seed, true); }

scenario poison_scenario(std::uint64_t seed) {
  auto s = draw(seed, seed % 4 == 0);
  std::mt19937_64 dice(seed * 5 + 1);
  s.ranks = std::max(s.ranks, 3);
  s.poison = static_cast<int>(dice() % s.parent.size());
  s.last_words = dice() % 2 == 0;
  s.most_parcels = dice() % 2 == 0 ? 256 : 2 + dice() % 3;
  s.most_losses = dice() % 4 == 0 ? 1 + static_cast<unsigned>(dice() % 3) : 2;
  if (seed % 4 != 0) s.deaths = s.suspicions = 0;
  if (dice() % 2 == 0) s.statements = 0;
  s.stops_early = false;
  s.failing = s.other_call = {};
  return s;
}

scenario retirement_scenario(std::uint64_t seed) {
  auto s = seed % 5 == 0 ? poison_scenario(seed) : draw(seed, seed % 4 == 0);
  std::mt19937_64 dice(seed * 7 + 3);
  s.ranks = std::max(s.ranks, 2);
  s.retirements = 1 + static_cast<int>(dice() % static_cast<std::uint64_t>(s.ranks));
  if (dice() % 4 == 0) s.changes_of_mind = 1 + static_cast<int>(dice() % 2);
  if (seed % 2 == 1) {
    s.deaths = s.suspicions = 0;
    s.poison = {};
  }
  return s;
}

summary run(scenario const& s, fault* f) { return harness_common::run<world>(s, f); }

}  // namespace steal_harness
