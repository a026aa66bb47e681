// Explores every order of events of a small scenario.
#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "harness.hpp"
#include "role/digest.hpp"

namespace harness {

std::uint64_t world::hash() const {
  role::digest d;
  auto const add_ids = [&](auto const& ids) {
    for (auto id : ids) d.add(id);
    d.add(ids.size());
  };
  d.add(state_.ledger.hash());
  for (auto const& n : state_.nodes) {
    d.add(n.worker.hash()).add(n.alive).add(n.begun).add(n.ended).add(n.draining).add(n.failed).add(n.rested);
    for (auto const& t : n.threads) d.add(t.todo ? t.todo->first * 64 + t.todo->count : 1U << 30);
    add_ids(n.held);
    add_ids(n.payloads);
  }
  std::vector<std::byte> written;
  for (auto const& w : state_.wires) {
    for (auto const& p : w) {
      written.clear();
      role::encode(p.what, written);
      for (auto const b : written) d.add(std::to_integer<std::uint64_t>(b));
      add_ids(p.content);
    }
    d.add(w.size());
  }
  for (bool b : state_.suspected) d.add(b);
  for (bool b : state_.detected) d.add(b);
  add_ids(state_.sent);
  add_ids(state_.received);
  for (auto n : state_.recorded) d.add(n);
  for (auto n : state_.forgotten) d.add(n);
  for (bool b : state_.early) d.add(b);
  add_ids(state_.ran_at_death);
  d.add(state_.root_died);
  for (auto const& q : state_.sink_queue) add_ids(q);
  d.add(state_.died_at_work)
      .add(state_.supplied)
      .add(state_.sunk)
      .add(state_.source_ended)
      .add(state_.asked_to_stop);
  d.add(static_cast<std::uint64_t>(state_.deaths)).add(static_cast<std::uint64_t>(state_.suspicions));
  d.add(static_cast<std::uint64_t>(state_.ticks));
  return d.value();
}

namespace {

// The states seen, or only their hashes: many more fit, at the risk of a collision.
class seen_states {
 public:
  explicit seen_states(bool exact) : exact_(exact) {}
  bool insert(world const& w) {
    auto const h = w.hash();
    if (!exact_) return hashes_.insert(h).second;
    auto const [from, to] = worlds_.equal_range(h);
    for (auto it = from; it != to; ++it)
      if (it->second == w) return false;
    worlds_.emplace(h, w);
    return true;
  }

 private:
  bool exact_;
  std::unordered_set<std::uint64_t> hashes_;
  std::unordered_multimap<std::uint64_t, world> worlds_;
};

std::string say(event const& e) {
  static constexpr char const* names[] = {"begin", "deliver", "idle",       "finish",    "tick",
                                          "die",   "detect",  "suspect",    "heartbeat", "supply",
                                          "sink",  "source",  "stop early", "hold back", "please stop"};
  return fmt::format("{}({} {} {})", names[static_cast<std::size_t>(e.what)], e.a, e.b, e.n);
}

}  // namespace

exploration explore(scenario const& s, int early_ticks, std::uint64_t most_states, bool exact, fault* f) {
  seen_states seen(exact);
  try {
    return harness_common::explore<world, event>(
        world(s, f), [&](world const& w) { return w.possible(early_ticks); },
        [&](world const& w) { return seen.insert(w); }, most_states, say);
  } catch (violation const& v) {
    throw violation(std::string(v.what()) + "\n  " + s.describe());
  }
}

}  // namespace harness
