// Deliberate protocol faults, and a check that a harness detects them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "harness_common.hpp"
#include "protocol/call_message.hpp"

namespace harness_common {

/// A fault made of functions. `nth` limits it to one occurrence per run.
template <class Fault>
struct basic_mutation : Fault {
  using typename Fault::actions;
  using typename Fault::event;
  using typename Fault::message;
  using typename Fault::world;

  std::function<bool(event const&)> heard;
  std::function<void(actions&)> wanted;
  std::function<bool(int to, message&)> received;
  int count = 0;

  bool nth(int n) { return ++count == n; }
  void start() override { count = 0; }
  bool hears(world&, event const& e) override { return !heard || heard(e); }
  void wants(world&, int, actions& list) override {
    if (wanted) wanted(list);
  }
  bool receives(world&, int, int to, message& m) override { return !received || received(to, m); }
};

/// Stands for the action `close` with this outcome, where a type of actions is expected.
template <skel::role::outcome::status how>
struct closes {};
using completes = closes<skel::role::outcome::status::done>;
using blames = closes<skel::role::outcome::status::task_failed>;

template <class A>
inline constexpr std::optional<skel::role::outcome::status> closed_by{};
template <skel::role::outcome::status how>
inline constexpr std::optional<skel::role::outcome::status> closed_by<closes<how>>{how};

/// The action if it is an A (for closes<...>: its outcome), or null.
template <class A, class Action>
auto* action_as(Action& a) {
  if constexpr (closed_by<A>) {
    auto* const c = std::get_if<skel::role::close>(&a);
    return c != nullptr && c->how.how == *closed_by<A> ? &c->how : nullptr;
  } else {
    return std::get_if<A>(&a);
  }
}

/// Changes the n-th action of kind A. `how` receives the list and the action's iterator.
template <class A, class Mutation, class How>
void change_nth(Mutation& m, int n, How how) {
  m.wanted = [&m, n, how](auto& list) {
    for (auto it = list.begin(); it != list.end(); ++it)
      if (action_as<A>(*it) != nullptr && m.nth(n)) {
        how(list, it);
        return;
      }
  };
}
template <class A, class Mutation>
void drop_nth(Mutation& m, int n) {
  change_nth<A>(m, n, [](auto& list, auto it) { list.erase(it); });
}
template <class A, class Mutation>
void never_wanted(Mutation& m) {
  m.wanted = [](auto& list) {
    std::erase_if(list, [](auto const& a) { return action_as<A>(a) != nullptr; });
  };
}
template <class A, class Mutation>
void twice(Mutation& m, int n) {
  change_nth<A>(m, n, [](auto& list, auto it) {
    auto const copy = *it;
    list.insert(it, copy);
  });
}

/// Returns the `Own` in a message or in its call_message, or null if the message is of another kind.
template <class Own, class... Kinds>
Own* as(std::variant<Kinds...>& m) {
  if constexpr ((std::is_same_v<Own, Kinds> || ...)) {
    return std::get_if<Own>(&m);
  } else {
    auto* const call = std::get_if<skel::role::call_message>(&m);
    return call == nullptr ? nullptr : std::get_if<Own>(call);
  }
}
/// Changes every received message of type `Own`.
template <class Own, class Mutation, class How>
void change(Mutation& m, How how) {
  m.received = [how](int, auto& what) {
    if (auto* const own = as<Own>(what)) how(*own);
    return true;
  };
}
template <class Own, class Mutation>
void never(Mutation& m) {
  m.received = [](int, auto& what) { return as<Own>(what) == nullptr; };
}
template <class Own, class Mutation>
void once_lost(Mutation& m, int n) {
  m.received = [&m, n](int, auto& what) { return as<Own>(what) == nullptr || !m.nth(n); };
}
/// Changes each action `Send` that sends a message of type `Own`. `how` receives both.
template <class Send, class Own, class Mutation, class How>
void change_sent(Mutation& m, How how) {
  m.wanted = [how](auto& list) {
    for (auto& a : list)
      if (auto* const s = std::get_if<Send>(&a))
        if (auto* const own = as<Own>(s->what)) how(*s, *own);
  };
}
/// Gives rank 1 a different outcome from the other ranks.
template <class Mutation>
void tell_another_outcome(Mutation& m) {
  m.received = [](int to, auto& what) {
    if (auto* const f = as<skel::role::finish>(what); f != nullptr && to == 1) ++f->how.tasks;
    return true;
  };
}
template <class Mutation>
struct named_fault {
  char const* name;
  std::function<void(Mutation&)> make;
  std::uint64_t first = 1;  ///< the first seed; some faults show only once in thousands of runs
};

/// Runs each fault with consecutive seeds until a run detects it.
template <class Mutation>
void check_all_are_caught(std::vector<named_fault<Mutation>> const& faults,
                          std::function<void(std::uint64_t seed, Mutation&)> const& run, int least = 20) {
  int caught = 0;
  for (auto const& f : faults) {
    Mutation m;
    f.make(m);
    std::uint64_t runs = 0;
    std::string how;
    for (std::uint64_t seed = f.first; seed < f.first + 10000 && how.empty(); ++seed) {
      ++runs;
      try {
        run(seed, m);
      } catch (violation const& v) {
        how = v.what();
        how.resize(how.find('\n'));
      }
    }
    std::printf("%-46s %5llu runs: %s\n", f.name, static_cast<unsigned long long>(runs), how.c_str());
    caught += how.empty() ? 0 : 1;
    INFO(f.name);
    CHECK_FALSE(how.empty());
  }
  CHECK(caught >= least);
}

}  // namespace harness_common
