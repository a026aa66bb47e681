// Scenarios drawn from a seed, running them, and exploring small ones exhaustively.
#include <algorithm>
#include <array>
#include <unordered_set>

#include "group_harness.hpp"

namespace group_harness {

std::string scenario::describe() const {
  auto const flag = [](bool on, char const* name) { return on ? std::string(", ") + name : std::string(); };
  std::string text =
      "seed " + std::to_string(seed) + ": " + std::to_string(ranks) + " ranks, " + std::to_string(units) +
      " units of up to " + std::to_string(most_pieces) + " pieces, groups of " + std::to_string(group_size) +
      ", " + std::to_string(threads) + " threads, reads ahead " + std::to_string(read_ahead) + ", buffers " +
      std::to_string(buffers) + ", deaths " + std::to_string(deaths) + ", suspicions " +
      std::to_string(suspicions) + ", left alone with " + std::to_string(left_alone) + " thousandths";
  text += flag(shrinking, "shrinking") + flag(reassigns, "reassigns") + flag(hosts_help, "hosts help") +
          flag(preloads, "preloads") + flag(uneven, "uneven") + flag(slow_delivery, "slow delivery") +
          flag(stops_early, "stops early");
  if (failing) text += ", job " + std::to_string(*failing) + " throws";
  if (other_call) text += ", rank " + std::to_string(*other_call) + " makes another call";
  return text + ", chaos " + std::to_string(chaos);
}

namespace {

scenario draw(std::uint64_t seed, bool must_die) {
  std::mt19937_64 dice(seed);
  auto const below = [&](std::uint64_t n) { return dice() % n; };
  auto const maybe = [&] { return below(2) == 0; };
  scenario s;
  s.seed = seed;
  auto const most = below(10) == 0 ? 16U : 7U;
  s.ranks = must_die ? 2 + static_cast<int>(below(most - 1)) : 1 + static_cast<int>(below(most));
  s.units = below(9);
  s.most_pieces = below(6);
  s.group_size = static_cast<unsigned>(below(5));
  s.threads = 1 + static_cast<unsigned>(below(2));
  s.read_ahead = static_cast<unsigned>(below(3));
  s.buffers = static_cast<unsigned>(below(3));
  s.least_pieces = 1 + below(3);
  s.shrinking = maybe();
  if (maybe()) s.threshold.reset();
  s.results_level = below(4);
  s.reassigns = below(4) != 0;
  s.hosts_help = maybe();
  s.preloads = maybe();
  s.uneven = maybe();
  s.slow_delivery = maybe();
  if (s.ranks > 1) {
    auto const others = static_cast<std::uint64_t>(s.ranks - 1);
    if (must_die || below(3) == 0) s.deaths = 1 + static_cast<int>(below(others));
    if (below(3) == 0) s.suspicions = 1 + static_cast<int>(below(5));
    if (!must_die && below(20) == 0) s.other_call = 1 + static_cast<int>(below(others));
  }
  if (below(12) == 0) s.failing = static_cast<int>(below(static_cast<std::uint64_t>(4 * s.ranks)));
  if (below(20) == 0) s.stops_early = true;
  s.chaos = 5 + below(300);
  constexpr std::uint64_t whole = protocol::whole_unit;
  s.left_alone = std::array{protocol::default_left_alone, std::uint64_t{0}, whole / 2, whole - 1}[below(4)];
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
        static constexpr char const* names[] = {"begin", "deliver", "finish",  "ready",     "measure", "tick",
                                                "die",   "detect",  "suspect", "heartbeat", "stop"};
        return std::string(names[static_cast<int>(e.what)]) + "(" + std::to_string(e.a) + "," +
               std::to_string(e.b) + ")";
      });
}

}  // namespace group_harness
