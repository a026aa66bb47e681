// The harness of ring_steal is tested, too: deliberate faults of the protocol must be noticed.
#include <cstdio>
#include <functional>

#include "catch.hpp"
#include "steal_harness.hpp"

namespace {

using skel::protocol::loan_message;
using skel::protocol::loan_message_kind;
using skel::protocol::steal_action;
using skel::protocol::steal_actions;
using steal_harness::event;
using steal_harness::world;
namespace act = skel::protocol::loan_action;

// A fault made of lambdas; `nth` helps to do it once per run only.
struct mutation : steal_harness::fault {
  std::function<bool(event const&)> heard;
  std::function<void(int, steal_actions&)> wanted;
  std::function<bool(int, int, loan_message&)> received;
  int count = 0;

  bool nth(int n) { return ++count == n; }
  void start() override { count = 0; }
  bool hears(world&, event const& e) override { return !heard || heard(e); }
  void wants(world&, int rank, steal_actions& list) override {
    if (wanted) wanted(rank, list);
  }
  bool receives(world&, int from, int to, loan_message& m) override {
    return !received || received(from, to, m);
  }
};

// Changes the n-th action of a kind: `how` gets the list and where it is in it.
template <class A>
void change_nth(mutation& m, int n, std::function<void(steal_actions&, steal_actions::iterator)> how) {
  m.wanted = [&m, n, how](int, steal_actions& list) {
    for (auto it = list.begin(); it != list.end(); ++it)
      if (std::holds_alternative<A>(*it) && m.nth(n)) {
        how(list, it);
        return;
      }
  };
}
template <class A>
void drop_nth(mutation& m, int n) {
  change_nth<A>(m, n, [](auto& list, auto it) { list.erase(it); });
}
template <class A>
void twice(mutation& m, int n) {
  change_nth<A>(m, n, [](auto& list, auto it) { list.insert(it, steal_action(*it)); });
}
void never(mutation& m, loan_message_kind kind) {
  m.received = [kind](int, int, loan_message& what) { return what.kind != kind; };
}
void once_lost(mutation& m, loan_message_kind kind, int n) {
  m.received = [&m, kind, n](int, int, loan_message& what) { return what.kind != kind || !m.nth(n); };
}
void change(mutation& m, loan_message_kind kind, std::function<void(loan_message&)> how) {
  m.received = [kind, how](int, int, loan_message& what) {
    if (what.kind == kind) how(what);
    return true;
  };
}

struct named {
  char const* name;
  std::function<void(mutation&)> make;
};

std::vector<named> const faults{
    {"a result is merged twice", [](auto& m) { twice<act::settle>(m, 2); }},
    {"a result is not merged", [](auto& m) { drop_nth<act::settle>(m, 2); }},
    {"a loan is not taken back", [](auto& m) { drop_nth<act::take_back>(m, 1); }},
    {"a loan is taken back into another debt",
     [](auto& m) {
       change_nth<act::take_back>(m, 1, [](auto&, auto it) { std::get<act::take_back>(*it).debt += 1; });
     }},
    {"a void debt is kept", [](auto& m) { drop_nth<act::drop>(m, 1); }},
    {"a loan is not accepted", [](auto& m) { drop_nth<act::accept>(m, 2); }},
    {"the end comes twice", [](auto& m) { twice<act::complete>(m, 1); }},
    {"the end is overlooked", [](auto& m) { drop_nth<act::complete>(m, 1); }},
    {"a rank does not drain", [](auto& m) { drop_nth<act::drain>(m, 2); }},
    {"a rank does not end", [](auto& m) { drop_nth<skel::protocol::end>(m, 2); }},
    {"nobody asks whether loans are held", [](auto& m) { never(m, loan_message_kind::held); }},
    {"nobody says that a loan is not held", [](auto& m) { never(m, loan_message_kind::not_held); }},
    // A lost request costs time, a lost repayment is repaired on the next tick: both were tried, neither is a
    // fault.
    {"a repayment names the next loan",
     [](auto& m) { change(m, loan_message_kind::paid, [](auto& p) { ++p.number; }); }},
    {"a repayment comes from anybody",
     [](auto& m) {
       m.received = [&m](int, int, loan_message& what) {
         if (what.kind == loan_message_kind::revoke && m.nth(1)) what.kind = loan_message_kind::nothing;
         if (what.kind == loan_message_kind::not_held) what.ids.clear();
         return true;
       };
     }},
    {"an early stop",
     [](auto& m) {
       change(m, loan_message_kind::ask, [](auto& a) { a.kind = loan_message_kind::please_stop; });
     }},
    {"a stop is lost", [](auto& m) { once_lost(m, loan_message_kind::stop, 2); }},
    {"a stopped is lost", [](auto& m) { once_lost(m, loan_message_kind::stopped, 2); }},
    {"a failure is kept secret", [](auto& m) { never(m, loan_message_kind::failed); }},
    {"a rank that makes another call is not noticed",
     [](auto& m) { change(m, loan_message_kind::hello, [](auto& h) { h.number = 42; }); }},
    {"the outcome differs",
     [](auto& m) {
       m.received = [](int, int to, loan_message& what) {
         if (what.kind == loan_message_kind::finish && to == 1) ++what.result->tasks;
         return true;
       };
     }},
    {"losses are not noticed",
     [](auto& m) {
       m.heard = [](event const& e) { return e.what != event::kind::detect && e.what != event::kind::tick; };
     }},
    {"time stands still",
     [](auto& m) { m.heard = [](event const& e) { return e.what != event::kind::tick; }; }},
};

}  // namespace

TEST_CASE("every deliberate fault of ring_steal is caught") {
  int caught = 0;
  for (auto const& f : faults) {
    mutation m;
    f.make(m);
    std::uint64_t runs = 0;
    std::string how;
    for (std::uint64_t seed = 1; seed <= 10000 && how.empty(); ++seed) {
      ++runs;
      try {
        steal_harness::run(
            seed % 2 == 0 ? steal_harness::random_scenario(seed) : steal_harness::death_scenario(seed), &m);
      } catch (steal_harness::violation const& v) {
        how = v.what();
        how.resize(how.find('\n'));
      }
    }
    std::printf("%-46s %5llu runs: %s\n", f.name, static_cast<unsigned long long>(runs), how.c_str());
    caught += how.empty() ? 0 : 1;
    INFO(f.name);
    CHECK_FALSE(how.empty());
  }
  CHECK(caught >= 20);
}
