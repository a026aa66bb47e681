// Draws scenarios from a seed and runs them.
#include "harness.hpp"

namespace divide_harness {

std::string scenario::describe() const {
  static constexpr char const* places[] = {"everywhere", "root", "parts"};
  return describe_ranks() + ", from " + places[static_cast<int>(from)] + " to " +
         places[static_cast<int>(to)] + ", " + std::to_string(items) + " items, trivial " +
         std::to_string(trivial) + ", losses " + std::to_string(most_losses) +
         (poison ? ", poison " + named(*poison) : "") + describe_trouble();
}

namespace {

scenario draw(std::uint64_t seed, bool must_die) {
  auto const own = [](scenario& s, auto const& below) {
    s.from = static_cast<placement>(below(3));
    s.to = static_cast<placement>(below(3));
    s.items = 1 + static_cast<int>(below(40));
    s.trivial = 1 + static_cast<int>(below(below(3) == 0 ? 20 : 2));
    s.most_losses = below(2) == 0 ? 2 : 0;
  };
  return harness_common::draw_scenario<scenario>(seed, must_die, own, 2, 200);
}

}  // namespace

scenario random_scenario(std::uint64_t seed) { return draw(seed, false); }
scenario death_scenario(std::uint64_t seed) { return draw(seed, true); }

scenario poison_scenario(std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  auto const below = [&](int n) { return static_cast<int>(dice() % static_cast<std::uint64_t>(n)); };
  scenario s;
  s.seed = seed;
  s.ranks = 2 + below(below(4) == 0 ? 15 : 7);
  s.from = below(2) == 0 ? placement::on_root : placement::everywhere;
  s.to = below(2) == 0 ? placement::on_root : placement::everywhere;
  s.items = below(4) == 0 ? 1 + below(40) : 64;
  s.most_losses = 1 + static_cast<unsigned>(below(below(3) == 0 ? 3 : 2));
  auto group = role::alone(1 + below(s.ranks - 1));
  while (below(3) == 0) {
    auto const larger = role::parent_of({0, s.ranks}, group);
    if (larger.contains(0)) break;
    group = larger;
  }
  s.poison = {group, !group.single() && below(2) == 0};
  if (below(4) == 0) s.deaths = 1 + below(2);
  if (below(5) == 0) s.suspicions = 1 + below(4);
  s.chaos = 5 + static_cast<std::uint64_t>(below(200));
  return s;
}

summary run(scenario const& s, fault* f) { return harness_common::run<world>(s, f); }

}  // namespace divide_harness
