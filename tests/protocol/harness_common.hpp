// Shared by the protocol harnesses: worlds of roles without clock, threads or transport. A seed drives a
// world, or an exploration runs every order of events. Faults can be injected between roles and transport.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fewer.hpp"

namespace harness_common {

/// Thrown if an invariant of the protocol fails or a run does not end. what() says how to replay it.
struct violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(bool holds, std::string const& text) {
  if (!holds) throw violation(text);
}

/// Deliberate faults between roles and transport, to test that the invariants detect them.
template <class World, class Event, class Actions, class Message>
struct fault {
  using world = World;
  using event = Event;
  using actions = Actions;
  using message = Message;

  fault() = default;
  fault(fault const&) = delete;
  fault& operator=(fault const&) = delete;
  virtual ~fault() = default;
  virtual void start() {}
  /// Returns false to hide the event from the roles.
  virtual bool hears(World&, Event const&) { return true; }
  /// Called with a role's actions before they are performed.
  virtual void wants(World&, int /*rank*/, Actions&) {}
  /// Called with a received message before the role sees it. Returns false to drop the message.
  virtual bool receives(World&, int /*from*/, int /*to*/, Message&) { return true; }
};

struct summary {
  std::uint64_t events = 0;
  int deaths = 0;
  bool died_at_work = false;
  std::uint64_t again = 0;  ///< tasks handed out again, or loans taken back
  bool blamed = false;      ///< whether work is blamed for losses
};

/// Runs a scenario: first random events drawn from the seed, then the events that end it.
template <class World, class Scenario, class Fault>
summary run(Scenario const& s, Fault* f) {
  summary sum;
  try {
    if (f != nullptr) f->start();
    World w(s, f);
    std::mt19937_64 dice(s.seed ^ 0x9e3779b97f4a7c15U);
    for (std::uint64_t i = 0; i < s.chaos && !w.ended(); ++i) sum.events += w.step(dice) ? 1 : 0;
    w.settle(dice);
    w.check_end();
    sum.deaths = w.deaths();
    sum.died_at_work = w.died_at_work();
    sum.again = w.again();
    if constexpr (requires { w.blamed(); }) sum.blamed = w.blamed();
  } catch (std::exception const& e) {
    throw violation(std::string(e.what()) + "\n  " + s.describe() +
                    "\n  replay it with SKEL_HARNESS_SEED=" + std::to_string(s.seed));
  }
  return sum;
}

/// Returns SKEL_HARNESS_RUNS if set; otherwise a million with SKEL_LONG, or about `ordinary`.
inline std::uint64_t runs_wanted(std::uint64_t ordinary) {
  if (char const* const n = std::getenv("SKEL_HARNESS_RUNS")) return std::strtoull(n, nullptr, 10);
  return std::getenv("SKEL_LONG") != nullptr ? 1000000 : test::fewer_if_slow(ordinary);
}

/// Calls `run_seed` with each of `count` seeds from `first`, or only with SKEL_HARNESS_SEED if that is set.
inline void try_many(char const* what, std::function<summary(std::uint64_t)> const& run_seed,
                     std::uint64_t first, std::uint64_t count) {
  if (char const* const seed = std::getenv("SKEL_HARNESS_SEED")) {
    run_seed(std::strtoull(seed, nullptr, 10));
    return;
  }
  std::uint64_t events = 0, deaths = 0, at_work = 0, again = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    auto const sum = run_seed(seed);
    events += sum.events;
    deaths += static_cast<std::uint64_t>(sum.deaths);
    at_work += sum.died_at_work ? 1 : 0;
    again += sum.again;
  }
  auto const print = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf("%s: %llu runs, %llu events, %llu deaths, %llu runs with a death at work, %llu times again\n",
              what, print(count), print(events), print(deaths), print(at_work), print(again));
}

/// The same for the scenario that `draw` makes from each seed; its namespace has the function `run`.
template <class Scenario>
void try_many(char const* what, Scenario (*draw)(std::uint64_t), std::uint64_t first, std::uint64_t count) {
  try_many(
      what, [draw](std::uint64_t seed) { return run(draw(seed)); }, first, count);
}

struct exploration {
  std::uint64_t states = 0, ends = 0, depth = 0;
  bool complete = true;

  void print(std::string const& name) const {
    std::printf("%s: %s states, depth %s, %s ends%s\n", name.c_str(), std::to_string(states).c_str(),
                std::to_string(depth).c_str(), std::to_string(ends).c_str(), complete ? "" : " (not all)");
  }
};

/// Runs every order of events from `first` to the end. `next` returns the possible events, `is_new` returns
/// whether a state is new. A violation lists the events that led to it, formatted by `say`.
template <class World, class Event>
exploration explore(World first, std::function<std::vector<Event>(World const&)> const& next,
                    std::function<bool(World const&)> const& is_new, std::uint64_t most_states,
                    std::function<std::string(Event const&)> const& say) {
  struct level {
    World at;
    std::vector<Event> next;
    std::size_t tried = 0;
  };
  exploration found;
  std::vector<level> path;
  auto const visit = [&](World w) {
    if (!is_new(w)) return;
    ++found.states;
    if (w.ended()) {
      w.check_end();
      ++found.ends;
      return;
    }
    auto all = next(w);
    path.push_back({std::move(w), std::move(all)});
    found.depth = std::max<std::uint64_t>(found.depth, path.size());
  };
  try {
    visit(std::move(first));
    while (!path.empty() && found.states < most_states) {
      auto& here = path.back();
      if (here.tried == here.next.size()) {
        path.pop_back();
        continue;
      }
      World w = here.at;
      w.apply(here.next[here.tried++]);
      visit(std::move(w));
    }
  } catch (std::exception const& e) {
    std::string text = std::string(e.what()) + "\n ";
    for (auto const& l : path)
      if (l.tried > 0) text += " " + say(l.next[l.tried - 1]);
    throw violation(text);
  }
  found.complete = path.empty();
  return found;
}

}  // namespace harness_common
