// Every order of events of a small scenario.
#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "harness.hpp"
#include "skel/protocol/digest.hpp"

namespace harness {

std::uint64_t world::hash() const {
  protocol::digest d;
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
  for (auto const& w : state_.wires) {
    for (auto const& p : w) {
      d.add(static_cast<std::uint64_t>(p.what.kind)).add(p.what.number).add(p.what.extra).add(p.what.ranges);
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

// The states seen: themselves, or (many more fit) only their hashes, at the risk of taking two for one.
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
  [[nodiscard]] std::uint64_t size() const { return exact_ ? worlds_.size() : hashes_.size(); }

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
  struct level {
    world at;
    std::vector<event> next;
    std::size_t tried = 0;
  };
  exploration found;
  seen_states seen(exact);
  std::vector<level> path;
  auto const visit = [&](world w) {
    if (!seen.insert(w)) return;
    if (w.ended()) {
      w.check_end();
      ++found.ends;
      return;
    }
    auto next = w.possible(early_ticks);
    path.push_back({std::move(w), std::move(next)});
    found.depth = std::max<std::uint64_t>(found.depth, path.size());
  };
  try {
    visit(world(s, f));
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
  } catch (std::exception const& e) {
    std::string text = fmt::format("{}\n  {}\n ", e.what(), s.describe());
    for (auto const& l : path)
      if (l.tried > 0) text += " " + say(l.next[l.tried - 1]);
    throw violation(text);
  }
  found.states = seen.size();
  found.complete = path.empty();
  return found;
}

}  // namespace harness
