// Scenarios drawn from a seed, running them, and exploring small ones exhaustively.
#include <algorithm>
#include <unordered_set>

#include "partner_harness.hpp"

namespace partner_harness {

std::string scenario::describe() const {
  static constexpr char const* places[] = {"everywhere", "root", "parts"};
  std::string text = "seed " + std::to_string(seed) + ": " + std::to_string(ranks) + " ranks, from " +
                     places[static_cast<int>(from)] + " to " + places[static_cast<int>(to)] + ", " +
                     std::to_string(items) + " items, trivial " + std::to_string(trivial) + ", deaths " +
                     std::to_string(deaths) + ", suspicions " + std::to_string(suspicions);
  if (failing) text += ", call " + std::to_string(*failing) + " throws";
  if (stops_early) text += ", stops early";
  if (other_call) text += ", rank " + std::to_string(*other_call) + " makes another call";
  return text + ", chaos " + std::to_string(chaos);
}

namespace {

scenario draw(std::uint64_t seed, bool must_die) {
  std::mt19937_64 dice(seed);
  auto const below = [&](std::uint64_t n) { return dice() % n; };
  scenario s;
  s.seed = seed;
  auto const most = below(10) == 0 ? 16U : 7U;
  s.ranks = must_die ? 2 + static_cast<int>(below(most - 1)) : 1 + static_cast<int>(below(most));
  s.from = static_cast<problem_place>(below(3));
  s.to = static_cast<solution_place>(below(3));
  s.items = 1 + static_cast<int>(below(40));
  s.trivial = 1 + static_cast<int>(below(below(3) == 0 ? 20 : 2));
  if (s.ranks > 1) {
    auto const others = static_cast<std::uint64_t>(s.ranks - 1);
    if (must_die || below(3) == 0) s.deaths = 1 + static_cast<int>(below(others));
    if (below(3) == 0) s.suspicions = 1 + static_cast<int>(below(5));
    if (!must_die && below(20) == 0) s.other_call = 1 + static_cast<int>(below(others));
  }
  if (below(12) == 0) s.failing = static_cast<int>(below(static_cast<std::uint64_t>(2 * s.ranks)));
  if (below(20) == 0) s.stops_early = true;
  s.chaos = 5 + below(200);
  return s;
}

}  // namespace

scenario random_scenario(std::uint64_t seed) { return draw(seed, false); }
scenario death_scenario(std::uint64_t seed) { return draw(seed, true); }

summary run(scenario const& s, fault* f) { return harness_common::run<world>(s, f); }

exploration explore(scenario const& s, std::uint64_t ticks, std::uint64_t most_states) {
  auto seen = std::make_shared<std::unordered_set<std::uint64_t>>();
  return harness_common::explore<world, event>(
      world(s), [ticks](world const& w) { return w.possible(ticks); },
      [seen](world const& w) { return seen->insert(w.hash()).second; }, most_states,
      [](event const& e) {
        static constexpr char const* names[] = {"begin",  "deliver", "finish",    "tick", "die",
                                                "detect", "suspect", "heartbeat", "stop"};
        return std::string(names[static_cast<int>(e.what)]) + "(" + std::to_string(e.a) + "," +
               std::to_string(e.b) + ")";
      });
}

}  // namespace partner_harness
