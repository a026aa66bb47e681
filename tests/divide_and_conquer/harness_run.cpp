// Scenarios drawn from a seed, and running them.
#include "harness.hpp"

namespace divide_harness {

std::string scenario::describe() const {
  static constexpr char const* places[] = {"everywhere", "root", "parts"};
  return describe_ranks() + ", from " + places[static_cast<int>(from)] + " to " +
         places[static_cast<int>(to)] + ", " + std::to_string(items) + " items, trivial " +
         std::to_string(trivial) + describe_trouble();
}

namespace {

scenario draw(std::uint64_t seed, bool must_die) {
  auto const own = [](scenario& s, auto const& below) {
    s.from = static_cast<placement>(below(3));
    s.to = static_cast<placement>(below(3));
    s.items = 1 + static_cast<int>(below(40));
    s.trivial = 1 + static_cast<int>(below(below(3) == 0 ? 20 : 2));
  };
  return harness_common::draw_scenario<scenario>(seed, must_die, own, 2, 200);
}

}  // namespace

scenario random_scenario(std::uint64_t seed) { return draw(seed, false); }
scenario death_scenario(std::uint64_t seed) { return draw(seed, true); }

summary run(scenario const& s, fault* f) { return harness_common::run<world>(s, f); }

}  // namespace divide_harness
