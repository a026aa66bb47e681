// Scenarios drawn from a seed, running them, and exploring small ones exhaustively.
#include <algorithm>
#include <unordered_set>

#include "steal_harness.hpp"

namespace steal_harness {

std::string scenario::describe() const {
  std::string text = "seed " + std::to_string(seed) + ": " + std::to_string(ranks) + " ranks, " +
                     std::to_string(parent.size()) + " nodes, take " + (half ? "half" : "one") + ", order " +
                     std::to_string(static_cast<int>(order)) + ", deaths " + std::to_string(deaths) +
                     ", suspicions " + std::to_string(suspicions);
  if (failing) text += ", node " + std::to_string(*failing) + " throws";
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
  s.ranks = must_die ? 2 + static_cast<int>(below(6)) : 1 + static_cast<int>(below(7));
  auto const nodes = 1 + below(below(4) == 0 ? 4 : 40);
  bool const narrow = below(4) == 0;  // nearly a chain
  for (std::uint64_t i = 0; i < nodes; ++i)
    s.parent.push_back(
        i == 0 ? -1 : static_cast<int>(narrow ? i - 1 - below(std::min<std::uint64_t>(i, 2)) : below(i)));
  s.half = below(2) == 0;
  if (s.ranks > 1) {
    auto const others = static_cast<std::uint64_t>(s.ranks - 1);
    if (must_die || below(3) == 0) s.deaths = 1 + static_cast<int>(below(others));
    if (below(3) == 0) s.suspicions = 1 + static_cast<int>(below(5));
    if (!must_die && below(20) == 0) s.other_call = 1 + static_cast<int>(below(others));
  }
  if (below(12) == 0) s.failing = static_cast<int>(below(nodes));
  if (below(20) == 0) s.stops_early = true;
  s.chaos = 10 + below(400);
  s.order = static_cast<skel::ring_order>(below(3));
  return s;
}

}  // namespace

scenario random_scenario(std::uint64_t seed) { return draw(seed, false); }
scenario death_scenario(std::uint64_t seed) { return draw(seed, true); }

summary run(scenario const& s, fault* f) {
  summary sum;
  try {
    if (f != nullptr) f->start();
    world w(s, f);
    std::mt19937_64 dice(s.seed ^ 0x9e3779b97f4a7c15U);
    for (std::uint64_t i = 0; i < s.chaos && !w.ended(); ++i) sum.events += w.step(dice) ? 1 : 0;
    w.settle(dice);
    w.check_end();
    sum.deaths = w.deaths();
    sum.died_at_work = w.died_at_work();
    sum.taken_back = w.taken_back();
  } catch (std::exception const& e) {
    throw violation(std::string(e.what()) + "\n  " + s.describe() +
                    "\n  replay it with SKEL_HARNESS_SEED=" + std::to_string(s.seed));
  }
  return sum;
}

exploration explore(scenario const& s, std::uint64_t ticks, std::uint64_t most_states) {
  struct level {
    world at;
    std::vector<event> next;
    std::size_t tried = 0;
  };
  exploration found;
  std::unordered_set<std::uint64_t> seen;
  std::vector<level> path;
  auto const visit = [&](world w) {
    if (!seen.insert(w.hash()).second) return;
    if (w.ended()) {
      w.check_end();
      ++found.ends;
      return;
    }
    auto next = w.possible(ticks);
    path.push_back({std::move(w), std::move(next)});
    found.depth = std::max<std::uint64_t>(found.depth, path.size());
  };
  visit(world(s));
  while (!path.empty() && seen.size() < most_states) {
    auto& here = path.back();
    if (here.tried == here.next.size()) {
      path.pop_back();
      continue;
    }
    world w = here.at;
    w.apply(here.next[here.tried++]);
    visit(std::move(w));
  }
  found.states = seen.size();
  found.complete = path.empty();
  return found;
}

}  // namespace steal_harness
