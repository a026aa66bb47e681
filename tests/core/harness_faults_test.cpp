// The harness is tested, too: deliberate faults of the protocol must be noticed.
#include <cstdio>
#include <functional>

#include "catch.hpp"
#include "harness.hpp"

namespace {

using harness::event;
using harness::fault;
using harness::world;
using skel::protocol::action;
using skel::protocol::actions;
using skel::protocol::message;
using skel::protocol::message_kind;
namespace protocol = skel::protocol;

// A fault made of lambdas; `nth` helps to do it once per run only.
struct mutation : fault {
  std::function<bool(world&, event const&)> heard;
  std::function<void(int, bool, actions&)> wanted;
  std::function<bool(int, int, message&)> received;
  std::function<std::uint64_t(std::uint64_t)> told;
  int count = 0;

  bool nth(int n) { return ++count == n; }
  void start() override { count = 0; }
  bool hears(world& w, event const& e) override { return !heard || heard(w, e); }
  void wants(world&, int rank, bool ledger, actions& list) override {
    if (wanted) wanted(rank, ledger, list);
  }
  bool receives(world&, int from, int to, message& m) override { return !received || received(from, to, m); }
  std::uint64_t sunk(std::uint64_t n) override { return told ? told(n) : n; }
};

// Removes the n-th action of a kind, for which `which` holds.
template <class A>
void drop(
    mutation& m, int n, std::function<bool(A const&)> which = [](A const&) { return true; }) {
  m.wanted = [&m, n, which](int, bool, actions& list) {
    for (auto it = list.begin(); it != list.end(); ++it)
      if (auto const* const a = std::get_if<A>(&*it); a != nullptr && which(*a) && m.nth(n)) {
        list.erase(it);
        return;
      }
  };
}
template <class A>
void twice(mutation& m, int n) {
  m.wanted = [&m, n](int, bool, actions& list) {
    for (auto it = list.begin(); it != list.end(); ++it)
      if (std::holds_alternative<A>(*it) && m.nth(n)) {
        action const copy = *it;
        list.insert(it, copy);
        return;
      }
  };
}
void never(mutation& m, message_kind kind) {
  m.received = [kind](int, int, message& what) { return what.kind != kind; };
}
void once_lost(mutation& m, message_kind kind, int n = 1) {
  m.received = [&m, kind, n](int, int, message& what) { return what.kind != kind || !m.nth(n); };
}
void change(mutation& m, message_kind kind, std::function<void(message&)> how) {
  m.received = [kind, how](int, int, message& what) {
    if (what.kind == kind) how(what);
    return true;
  };
}

struct named {
  char const* name;
  std::function<void(mutation&)> make;
};

std::vector<named> const faults{
    {"a task is recorded twice", [](auto& m) { twice<protocol::record>(m, 2); }},
    {"a result is not recorded", [](auto& m) { drop<protocol::record>(m, 2); }},
    {"a range is not run", [](auto& m) { drop<protocol::execute>(m, 2); }},
    {"a range is run twice", [](auto& m) { twice<protocol::execute>(m, 1); }},
    {"an end is forgotten", [](auto& m) { drop<protocol::end>(m, 2); }},
    {"a rank ends twice", [](auto& m) { twice<protocol::end>(m, 1); }},
    {"a payload is forgotten before its result",
     [](auto& m) {
       m.wanted = [](int, bool ledger, actions& list) {
         for (auto it = list.begin(); ledger && it != list.end(); ++it)
           if (auto const* s = std::get_if<protocol::send>(&*it); s && s->what.kind == message_kind::grant) {
             list.insert(it, protocol::forget{s->what.ranges.front()});
             return;
           }
       };
     }},
    {"take_stock is ignored", [](auto& m) { never(m, message_kind::take_stock); }},
    {"stock never arrives", [](auto& m) { never(m, message_kind::stock); }},
    {"stock leaves out what is held",
     [](auto& m) { change(m, message_kind::stock, [](auto& s) { s.ranges.clear(); }); }},
    {"stock leaves out one range",
     [](auto& m) {
       change(m, message_kind::stock, [](auto& s) {
         if (!s.ranges.empty()) s.ranges.pop_back();
       });
     }},
    {"stock claims all tasks",
     [](auto& m) { change(m, message_kind::stock, [](auto& s) {
                     s.ranges = {{0, 1, 1}};
                   }); }},
    {"stock answers an older round",
     [](auto& m) { change(m, message_kind::stock, [](auto& s) { --s.number; }); }},
    {"a request is never answered", [](auto& m) { never(m, message_kind::ask); }},
    {"a request inside the results is overlooked",
     [](auto& m) { change(m, message_kind::results, [](auto& r) { r.number = 0; }); }},
    {"a grant is lost", [](auto& m) { once_lost(m, message_kind::grant, 2); }},
    {"a grant loses a range",
     [](auto& m) {
       change(m, message_kind::grant, [](auto& g) {
         if (g.ranges.front().count > 1) --g.ranges.front().count;
       });
     }},
    {"a grant is one task off",
     [](auto& m) { change(m, message_kind::grant, [](auto& g) { ++g.ranges.front().first; }); }},
    {"results are lost", [](auto& m) { once_lost(m, message_kind::results, 2); }},
    {"results name one task too few",
     [](auto& m) {
       change(m, message_kind::results, [](auto& r) {
         if (r.ranges.back().count > 1) --r.ranges.back().count;
       });
     }},
    {"nobody hears that the pool is empty", [](auto& m) { never(m, message_kind::nothing); }},
    {"hello is lost", [](auto& m) { once_lost(m, message_kind::hello, 1); }},
    {"stop is lost", [](auto& m) { once_lost(m, message_kind::stop, 2); }},
    {"a rank is stopped early",
     [](auto& m) { change(m, message_kind::take_stock, [](auto& t) { t.kind = message_kind::stop; }); }},
    {"stopped is lost", [](auto& m) { once_lost(m, message_kind::stopped, 2); }},
    {"finish tells another outcome",
     [](auto& m) {
       m.received = [](int, int to, message& what) {
         if (what.kind == message_kind::finish && to == 1) ++what.result->tasks;
         return true;
       };
     }},
    {"a failure is kept secret", [](auto& m) { never(m, message_kind::failed); }},
    {"losses are not noticed",
     [](auto& m) {
       m.heard = [](world&, event const& e) {
         return e.what != event::kind::detect && e.what != event::kind::tick;
       };
     }},
    {"time stands still",
     [](auto& m) { m.heard = [](world&, event const& e) { return e.what != event::kind::tick; }; }},
    {"the root has no ticks",
     [](auto& m) {
       m.heard = [](world&, event const& e) { return e.what != event::kind::tick || e.a != 0; };
     }},
    {"the workers have no ticks",
     [](auto& m) {
       m.heard = [](world&, event const& e) { return e.what != event::kind::tick || e.a == 0; };
     }},
    {"what a victim gives is lost", [](auto& m) { once_lost(m, message_kind::give, 1); }},
    {"what a victim gives is one task off",
     [](auto& m) { change(m, message_kind::give, [](auto& g) { ++g.ranges.front().first; }); }},
    {"what a victim gives loses a task",
     [](auto& m) {
       change(m, message_kind::give, [](auto& g) {
         if (g.ranges.front().count > 1) --g.ranges.front().count;
       });
     }},
    {"a victim without work does not answer", [](auto& m) { never(m, message_kind::none); }},
    {"a thief is not heard", [](auto& m) { never(m, message_kind::steal); }},
    {"the sink tells one result too many", [](auto& m) { m.told = [](std::uint64_t n) { return n + 1; }; }},
    {"the sink tells one result too few",
     [](auto& m) { m.told = [](std::uint64_t n) { return n > 0 ? n - 1 : 0; }; }},
};

}  // namespace

TEST_CASE("every deliberate fault is caught") {
  int caught = 0;
  for (auto const& f : faults) {
    mutation m;
    f.make(m);
    std::uint64_t runs = 0;
    std::string how;
    for (std::uint64_t seed = 1; seed <= 10000 && how.empty(); ++seed) {
      ++runs;
      try {
        harness::run(seed % 2 == 0 ? harness::random_scenario(seed) : harness::death_scenario(seed), &m);
      } catch (harness::violation const& v) {
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
