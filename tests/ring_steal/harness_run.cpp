// Scenarios drawn from a seed, running them, and exploring small ones exhaustively.
#include <algorithm>
#include <unordered_set>

#include "harness.hpp"

namespace steal_harness {

std::string scenario::describe() const {
  std::string text = "seed " + std::to_string(seed) + ": " + std::to_string(ranks) + " ranks, " +
                     std::to_string(parent.size()) + " nodes, take " + (half ? "half" : "one") + ", order " +
                     std::to_string(static_cast<int>(order)) + ", deaths " + std::to_string(deaths) +
                     ", suspicions " + std::to_string(suspicions);
  if (failing) text += ", node " + std::to_string(*failing) + " throws";
  if (stops_early) text += ", stops early";
  if (records) text += ", checkpoints";
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
  s.records = below(2) == 0;
  if (s.records && below(6) == 0) s.stops_early = true;
  return s;
}

}  // namespace

scenario random_scenario(std::uint64_t seed) { return draw(seed, false); }
scenario death_scenario(std::uint64_t seed) { return draw(seed, true); }

summary run(scenario const& s, fault* f) { return harness_common::run<world>(s, f); }

std::uint64_t world::hash() const {
  role::digest d;
  auto const add_list = [&](auto const& list) {
    for (auto const x : list) d.add(static_cast<std::uint64_t>(x));
    d.add(list.size());
  };
  for (auto const& n : nodes_) {
    d.add(n.role.hash());
    for (auto const& [id, s] : n.debts) {
      d.add(id);
      add_list(s.waiting);
      add_list(s.result);
    }
    for (auto const& [id, l] : n.lent) {
      d.add(id).add(l.of);
      add_list(l.lent);
      add_list(l.worth.tasks);
      add_list(l.worth.result);
    }
    d.add(n.running ? n.running->first * 1000 + static_cast<std::uint64_t>(n.running->second) + 1 : 0);
    d.add((n.begun ? 1U : 0U) + (n.alive ? 2U : 0U) + (n.ended ? 4U : 0U) + (n.draining ? 8U : 0U));
  }
  d.add(roll_.hash());
  for (auto const& w : wires_) {
    for (auto const& p : w) {
      d.add(static_cast<std::uint64_t>(p.what.kind)).add(p.what.number);
      add_list(p.what.ids);
      add_list(p.body.tasks);
      add_list(p.body.result);
    }
    d.add(w.size());
  }
  for (bool const l : lost_) d.add(l ? 1 : 0);
  d.add(static_cast<std::uint64_t>(deaths_)).add(static_cast<std::uint64_t>(suspicions_)).add(ticks_);
  d.add(statements_).add(asked_to_stop_ ? 1 : 0);
  if (recorded_) add_list(recorded_->tasks);
  return d.add(complete_ ? 1 : 0).value();
}

exploration explore(scenario const& s, std::uint64_t ticks, std::uint64_t most_states) {
  static constexpr char const* names[] = {"begin",  "deliver", "start",     "finish", "lend",
                                          "away",   "state",   "retry",     "tick",   "die",
                                          "detect", "suspect", "heartbeat", "stop"};
  std::unordered_set<std::uint64_t> seen;
  return harness_common::explore<world, event>(
      world(s), [&](world const& w) { return w.possible(ticks); },
      [&](world const& w) { return seen.insert(w.hash()).second; }, most_states,
      [](event const& e) {
        return std::string(names[static_cast<std::size_t>(e.what)]) + "(" + std::to_string(e.a) + " " +
               std::to_string(e.b) + ")";
      });
}

}  // namespace steal_harness
