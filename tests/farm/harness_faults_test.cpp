// Tests the harness itself: it must notice deliberate faults of the protocol.
#include "harness.hpp"
#include "protocol/harness_mutation.hpp"

namespace {

using farm_harness::event;
namespace role = skel::role;
namespace farm = skel::role::farm;
using skel::role::farm_actions;
using namespace harness_common;

struct mutation : basic_mutation<farm_harness::fault> {
  std::function<std::uint64_t(std::uint64_t)> told;
  std::uint64_t sunk(std::uint64_t n) override { return told ? told(n) : n; }
};

std::vector<named_fault<mutation>> const faults{
    {"a task is recorded twice", [](auto& m) { twice<farm::record>(m, 2); }},
    {"a result is not recorded", [](auto& m) { drop_nth<farm::record>(m, 2); }},
    {"a range is not run", [](auto& m) { drop_nth<farm::execute>(m, 2); }},
    {"a range is run twice", [](auto& m) { twice<farm::execute>(m, 1); }},
    {"an end is forgotten", [](auto& m) { drop_nth<role::end>(m, 2); }},
    {"a rank ends twice", [](auto& m) { twice<role::end>(m, 1); }},
    {"a payload is forgotten before its result",
     [](auto& m) {
       m.wanted = [](farm_actions& list) {
         for (auto it = list.begin(); it != list.end(); ++it)
           if (auto const* s = std::get_if<farm::send>(&*it))
             if (auto const* g = std::get_if<farm::grant>(&s->what)) {
               list.insert(it, farm::forget{g->ranges.front()});
               return;
             }
       };
     }},
    {"take_stock is ignored", [](auto& m) { never<farm::take_stock>(m); }},
    {"stock never arrives", [](auto& m) { never<farm::stock>(m); }},
    {"stock leaves out what is held",
     [](auto& m) { change<farm::stock>(m, [](auto& s) { s.held.clear(); }); }},
    {"stock leaves out one range",
     [](auto& m) {
       change<farm::stock>(m, [](auto& s) {
         if (!s.held.empty()) s.held.pop_back();
       });
     }},
    {"stock claims all tasks",
     [](auto& m) { change<farm::stock>(m, [](auto& s) {
                     s.held = {{0, 1, 1}};
                   }); }},
    {"stock answers an older round", [](auto& m) { change<farm::stock>(m, [](auto& s) { --s.round; }); }},
    {"a request is never answered", [](auto& m) { never<farm::ask>(m); }},
    {"a request inside the results is overlooked",
     [](auto& m) { change<farm::results>(m, [](auto& r) { r.wanted = 0; }); }},
    {"a grant is lost", [](auto& m) { once_lost<farm::grant>(m, 2); }},
    {"a grant loses a range",
     [](auto& m) {
       change<farm::grant>(m, [](auto& g) {
         if (g.ranges.front().count > 1) --g.ranges.front().count;
       });
     }},
    {"a grant is one task off",
     [](auto& m) { change<farm::grant>(m, [](auto& g) { ++g.ranges.front().first; }); }},
    {"results are lost", [](auto& m) { once_lost<farm::results>(m, 2); }},
    {"results name one task too few",
     [](auto& m) {
       change<farm::results>(m, [](auto& r) {
         if (r.ranges.back().count > 1) --r.ranges.back().count;
       });
     }},
    {"no rank learns that the pool is empty", [](auto& m) { never<farm::nothing>(m); }},
    {"hello is lost", [](auto& m) { once_lost<role::hello>(m, 1); }},
    {"stop is lost", [](auto& m) { once_lost<role::stop>(m, 2); }},
    {"a rank is stopped early",
     [](auto& m) {
       m.received = [](int, auto& what) {
         if (std::holds_alternative<farm::take_stock>(what)) what = role::call_message(role::stop{});
         return true;
       };
     }},
    {"stopped is lost", [](auto& m) { once_lost<role::stopped>(m, 2); }},
    {"finish reports another outcome", [](auto& m) { tell_another_outcome(m); }},
    {"a failure is not reported", [](auto& m) { never<role::failed>(m); }},
    {"losses are not noticed",
     [](auto& m) {
       m.heard = [](event const& e) { return e.what != event::kind::detect && e.what != event::kind::tick; };
     }},
    {"time stands still",
     [](auto& m) { m.heard = [](event const& e) { return e.what != event::kind::tick; }; }},
    {"the root has no ticks",
     [](auto& m) { m.heard = [](event const& e) { return e.what != event::kind::tick || e.a != 0; }; }},
    {"the members have no ticks",
     [](auto& m) { m.heard = [](event const& e) { return e.what != event::kind::tick || e.a == 0; }; }},
    {"a victim's gift is lost", [](auto& m) { once_lost<farm::give>(m, 1); }},
    {"a victim's gift is one task off",
     [](auto& m) { change<farm::give>(m, [](auto& g) { ++g.ranges.front().first; }); }},
    {"a victim's gift loses a task",
     [](auto& m) {
       change<farm::give>(m, [](auto& g) {
         if (g.ranges.front().count > 1) --g.ranges.front().count;
       });
     }},
    {"a victim without work does not answer", [](auto& m) { never<farm::none>(m); }},
    {"a named victim is not asked", [](auto& m) { never<farm::take_from>(m); }},
    {"the wrong task is copied",
     [](auto& m) {
       change_sent<farm::send, farm::grant>(m, [](auto&, auto& g) {
         if (g.may_be_held) g.ranges.front().first += 1000;
       });
     }},
    {"an idle rank does not learn that no task waits", [](auto& m) { once_lost<farm::nothing>(m, 3); }},
    {"requests of thieves are lost", [](auto& m) { never<farm::steal>(m); }},
    {"the sink reports one result too many", [](auto& m) { m.told = [](std::uint64_t n) { return n + 1; }; }},
    {"the sink reports one result too few",
     [](auto& m) { m.told = [](std::uint64_t n) { return n > 0 ? n - 1 : 0; }; }},
};

std::vector<named_fault<mutation>> const resumption_faults{
    {"a restored task is dealt out",
     [](auto& m) { change<farm::grant>(m, [](auto& g) {
                     g.ranges.push_back({0, 1, 1});
                   }); }},
    {"a grant of the remaining tasks is lost", [](auto& m) { once_lost<farm::grant>(m, 1); }},
    {"the sink reports one result too few after restoring",
     [](auto& m) { m.told = [](std::uint64_t n) { return n > 0 ? n - 1 : 0; }; }},
};

// Uses scenarios with tasks that kill the ranks that run them.
std::vector<named_fault<mutation>> const poison_faults{
    {"no rank announces the suspect that it begins", [](auto& m) { never<farm::begins>(m); }},
    {"a rank announces another task than the one it begins",
     [](auto& m) { change<farm::begins>(m, [](auto& b) { b.running.front().first ^= 1; }); }},
    {"a suspect is granted to the root",
     [](auto& m) { change_sent<farm::send, farm::grant_alone>(m, [](auto& s, auto&) { s.to = 0; }); }},
    {"a suspect is never granted", [](auto& m) { never<farm::grant_alone>(m); }},
    {"another task is blamed", [](auto& m) { change<role::finish>(m, [](auto& f) { f.how.task ^= 1; }); }},
};

// Uses scenarios with tasks that a rank does not run together, or not at all.
std::vector<named_fault<mutation>> const crowd_faults{
    {"the root does not hear that a task has no room", [](auto& m) { never<farm::refused>(m); }},
    {"a rank refuses another task than the one that has no room",
     [](auto& m) { change<farm::refused>(m, [](auto& r) { r.task ^= 1; }); }},
    {"the needs of a refused task are lost",
     [](auto& m) { change<farm::refused>(m, [](auto& r) { r.memory = 0; }); }},
    {"a refused task is given to no other rank", [](auto& m) { never<farm::grant_alone>(m); }},
    {"a task that is left out for its time counts as failed",
     [](auto& m) {
       m.wanted = [](farm_actions& list) {
         for (auto& a : list)
           if (auto* const l = std::get_if<farm::leave_out>(&a)) l->late = false;
       };
     }},
};

// Uses scenarios with audits, some with a rank whose results are wrong.
std::vector<named_fault<mutation>> const audit_faults{
    {"the wrong version is accepted",
     [](auto& m) {
       m.wanted = [](farm_actions& list) {
         for (auto& a : list)
           if (auto* const v = std::get_if<farm::accept>(&a)) v->version ^= 1;
       };
     }},
    {"no task is repeated", [](auto& m) { never<farm::grant_alone>(m); }},
    {"the results of a rank at fault are kept", [](auto& m) { drop_nth<farm::discard>(m, 1); }},
    {"results wait for ever", [](auto& m) { drop_nth<farm::release>(m, 1); }},
    {"an accepted result is lost", [](auto& m) { drop_nth<farm::accept>(m, 2); }},
};

}  // namespace

TEST_CASE("every deliberate fault is caught") {
  check_all_are_caught<mutation>(faults, [](std::uint64_t seed, mutation& m) {
    farm_harness::run(
        seed % 2 == 0 ? farm_harness::random_scenario(seed) : farm_harness::death_scenario(seed), &m);
  });
}

TEST_CASE("faults in resumed runs are caught") {
  check_all_are_caught<mutation>(
      resumption_faults,
      [](std::uint64_t seed, mutation& m) { farm_harness::run(farm_harness::resumed_scenario(seed), &m); },
      3);
}

TEST_CASE("faults in giving up tasks without room are caught") {
  check_all_are_caught<mutation>(
      crowd_faults,
      [](std::uint64_t seed, mutation& m) { farm_harness::run(farm_harness::crowded_scenario(seed), &m); },
      5);
}

TEST_CASE("faults in audits are caught") {
  check_all_are_caught<mutation>(
      audit_faults,
      [](std::uint64_t seed, mutation& m) { farm_harness::run(farm_harness::audited_scenario(seed), &m); },
      5);
}

TEST_CASE("faults in blaming tasks are caught") {
  check_all_are_caught<mutation>(
      poison_faults,
      [](std::uint64_t seed, mutation& m) { farm_harness::run(farm_harness::poison_scenario(seed), &m); }, 5);
}
