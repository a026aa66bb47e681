// What may happen next in a simulated ring_steal: everything, something, or what makes it end.
#include <algorithm>

#include "harness.hpp"

namespace steal_harness {

using kind = event::kind;

std::vector<event> world::possible(std::uint64_t ticks) const {
  std::vector<event> all;
  auto const& s = *scenario_;
  for (int a = 0; a < s.ranks; ++a) {
    auto const& n = at(a);
    if (!n.alive) {
      for (int b = 0; b < s.ranks; ++b) {
        if (deliverable(a, b)) all.push_back({kind::deliver, a, b});
        if (active(b) && !lost_[wire(b, a)]) all.push_back({kind::detect, b, a});
      }
      continue;
    }
    if (!n.begun) all.push_back({kind::begin, a});
    for (int b = 0; b < s.ranks; ++b) {
      if (deliverable(a, b)) all.push_back({kind::deliver, a, b});
      if (lost_[wire(a, b)] && at(b).alive) all.push_back({kind::heartbeat, a, b});
      if (b != 0 && b != a && at(b).alive && active(a) && suspicions_ < s.suspicions && !lost_[wire(a, b)])
        all.push_back({kind::suspect, a, b});
    }
    if (a != 0 && deaths_ < s.deaths && !complete_) {
      all.push_back({kind::die, a, 0, ~0ULL});
      all.push_back({kind::die, a, 0, 0});
    }
    if (!active(a)) continue;
    auto const c = n.role.current();
    if (n.running)
      all.push_back({kind::finish, a});
    else if (c && !n.debts.at(*c).waiting.empty())
      all.push_back({kind::start, a});
    // Explored: as the engine does, which keeps a task for itself; at random: anything. (Two ranks that give
    // each other their only task have no last state.)
    std::size_t const keeps = ticks == ~0ULL || n.running ? 0 : 1;
    if (n.role.wanted() && c && n.debts.at(*c).waiting.size() > keeps) all.push_back({kind::lend, a});
    if (s.records && !n.draining && statements_ < ticks)
      for (auto const& [debt, what] : n.debts) all.push_back({kind::state, a, 0, debt});
    if (s.stops_early && ticks != ~0ULL && !asked_to_stop_) all.push_back({kind::stop, a});
    if (n.role.resting()) all.push_back({kind::retry, a});
    if (ticks_ < ticks) all.push_back({kind::tick, a});
  }
  return all;
}

bool world::step(std::mt19937_64& dice) {
  auto all = possible(~0ULL);
  auto const& s = *scenario_;
  auto const below = [&](std::uint64_t n) { return dice() % n; };
  if (below(20) == 0) {
    auto const a = static_cast<int>(below(static_cast<std::uint64_t>(s.ranks)));
    if (active(a) && at(a).role.wanted()) all.push_back({kind::away, a});
    if (active(a) && s.stops_early && !asked_to_stop_) all.push_back({kind::stop, a});
  }
  // Deaths and suspicions are rare, ticks too.
  for (int turn = 0; turn < 20 && !all.empty(); ++turn) {
    auto e = all[below(all.size())];
    bool const rare = e.what == kind::die || e.what == kind::suspect || e.what == kind::tick ||
                      e.what == kind::heartbeat || e.what == kind::detect || e.what == kind::state;
    if (rare && below(10) != 0) continue;
    if (e.what == kind::die) e.n = below(4);
    apply(e);
    return true;
  }
  return !all.empty();
}

void world::settle(std::mt19937_64& dice) {
  constexpr int most_rounds = 400;
  for (int round = 0; round < most_rounds && !ended(); ++round) {
    for (int a = 0; a < scenario_->ranks; ++a)
      for (int b = 0; b < scenario_->ranks; ++b) {
        if (active(a) && !at(b).alive && !lost_[wire(a, b)]) apply({kind::detect, a, b});
        if (lost_[wire(a, b)] && at(b).alive) apply({kind::heartbeat, a, b});
      }
    for (int i = 0; i < 400 && !ended(); ++i) {
      auto all = possible(~0ULL);
      std::erase_if(all, [](event const& e) {
        return e.what == kind::die || e.what == kind::suspect || e.what == kind::tick ||
               e.what == kind::state;
      });
      if (all.empty()) break;
      apply(all[dice() % all.size()]);
    }
    for (int a = 0; a < scenario_->ranks; ++a)
      if (active(a)) apply({kind::tick, a});
  }
  require(ended(), "the run is stuck");
}

}  // namespace steal_harness
