// Tests the harness of teams itself: it must detect deliberate faults.
#include <set>

#include "harness.hpp"
#include "protocol/harness_mutation.hpp"

namespace {

namespace role = skel::role;
namespace team = role::team;
using namespace harness_common;
using team_harness::event;

struct mutation : basic_mutation<team_harness::fault> {
  std::uint64_t sunk_too_early = 0;
  std::set<skel::task_id> given{};
  void start() override {
    basic_mutation::start();
    given.clear();
  }
  std::uint64_t sunk(std::uint64_t n) override { return n + sunk_too_early; }
  bool at_once = false;
  bool stops_at_once() override { return at_once; }
};

// Removes the actions that send a message of type `Own` that `which` selects.
template <class Own, class Which>
void never_sent(mutation& m, Which which) {
  m.wanted = [which](auto& list) {
    std::erase_if(list, [&](auto& a) {
      auto* const s = std::get_if<team::send>(&a);
      auto* const own = s == nullptr ? nullptr : std::get_if<Own>(&s->what);
      return own != nullptr && which(*s, *own);
    });
  };
}
template <class How>
void change_outcome(mutation& m, How how) {
  change<role::finish>(m, [how](role::finish& f) { how(f.how); });
}

std::vector<named_fault<mutation>> const faults{
    {"no rank is told that its team has failed", [](auto& m) { never<team::cancel>(m); }},
    {"one rank is not told that its team has failed", [](auto& m) { once_lost<team::cancel>(m, 2); }},
    {"a rank does not give up", [](auto& m) { drop_nth<team::abandon>(m, 1); }},
    {"a result is accepted twice", [](auto& m) { twice<team::accept>(m, 2); }},
    {"a result is not accepted", [](auto& m) { drop_nth<team::accept>(m, 2); }},
    {"a result is accepted as that of the next task",
     [](auto& m) {
       change_nth<team::accept>(m, 1, [](auto&, auto it) { ++std::get<team::accept>(*it).task; });
     }},
    {"the result of a failed job is accepted",
     [](auto& m) {
       change_nth<team::drop>(m, 1, [](auto&, auto it) {
         auto const id = std::get<team::drop>(*it).job;
         *it = team::accept{id, 0, {}};
       });
     }},
    {"the result of a failed job is kept", [](auto& m) { drop_nth<team::drop>(m, 1); }},
    {"a result is dropped",
     [](auto& m) {
       change_nth<team::accept>(m, 1, [](auto&, auto it) {
         auto const id = std::get<team::accept>(*it).job;
         *it = team::drop{id};
       });
     }},
    {"a payload is kept", [](auto& m) { drop_nth<team::forget>(m, 1); }},
    {"a payload is dropped when its task begins",
     [](auto& m) {
       change_nth<team::begin>(m, 1, [](auto& list, auto it) {
         auto const id = std::get<team::begin>(*it).what.task.first;
         list.push_back(team::forget{id});
       });
     }},
    {"a task does not begin", [](auto& m) { drop_nth<team::begin>(m, 2); }},
    {"a task begins twice", [](auto& m) { twice<team::begin>(m, 2); }},
    {"a task is left out twice", [](auto& m) { twice<role::farm::leave_out>(m, 1); }},
    {"a task is neither left out nor run", [](auto& m) { drop_nth<role::farm::leave_out>(m, 1); }},
    {"a task is left out after its first failure",
     [](auto& m) {
       change_nth<team::drop>(m, 1, [](auto& list, auto) {
         list.push_back(role::farm::leave_out{0, 0, 1, "it"});
       });
     }},
    {"a task that lost its team does not run again",
     [](auto& m) {
       m.wanted = [&m](auto& list) {
         std::set<skel::task_id> now;
         std::erase_if(list, [&](auto const& a) {
           auto const* const s = std::get_if<team::send>(&a);
           auto const* const r = s == nullptr ? nullptr : std::get_if<team::run>(&s->what);
           if (r == nullptr) return false;
           now.insert(r->task.first);
           return m.given.contains(r->task.first);
         });
         m.given.merge(now);
       };
     }},
    {"a rank of a team is given nothing",
     [](auto& m) { never_sent<team::run>(m, [&m](auto const&, auto const&) { return m.nth(3); }); }},
    {"a rank is given the task of another rank",
     [](auto& m) {
       change_sent<team::send, team::run>(m, [](auto& s, auto&) { s.to = s.to == 0 ? 0 : s.to - 1; });
     }},
    {"ranks of a team are given different tasks",
     [](auto& m) {
       change_sent<team::send, team::run>(m, [&m](auto&, auto& r) { r.task.first += m.nth(2) ? 1 : 0; });
     }},
    {"a team lacks a rank",
     [](auto& m) {
       change_sent<team::send, team::run>(m, [](auto&, auto& r) {
         if (r.ranks.front().count > 1) --r.ranks.front().count;
       });
     }},
    {"a team has the number of the first team",
     [](auto& m) { change_sent<team::send, team::run>(m, [](auto&, auto& r) { r.formed = 1; }); }},
    {"every team has a number that was never used",
     [](auto& m) { change_sent<team::send, team::run>(m, [](auto&, auto& r) { r.formed += 1000; }); }},
    {"a team goes on after a failure",
     [](auto& m) {
       change_sent<team::send, team::run>(m, [](auto&, auto& r) {
         if (r.job > 1) r.formed = r.job - 1;
       });
     }},
    {"the end of a task is lost", [](auto& m) { once_lost<team::ended>(m, 2); }},
    {"the end of a task is that of the next job",
     [](auto& m) { change<team::ended>(m, [](auto& e) { ++e.job; }); }},
    {"a failure is not reported",
     [](auto& m) { change<team::ended>(m, [](auto& e) { e.failure.reset(); }); }},
    {"a failure that is none is reported",
     [](auto& m) {
       change<team::ended>(m, [&m](auto& e) {
         if (m.nth(2)) e.failure = "no reason";
       });
     }},
    {"a cancelled task seems to have ended",
     [](auto& m) { change<team::ended>(m, [](auto& e) { e.cancelled = false; }); }},
    {"no rank says that it thinks another one lost",
     [](auto& m) { change<team::ended>(m, [](auto& e) { e.lost.reset(); }); }},
    {"each failure is taken for a loss",
     [](auto& m) {
       change<team::ended>(m, [](auto& e) {
         if (std::exchange(e.failure, std::nullopt)) e.cancelled = true;
       });
     }},
    {"a task that runs for too long is not reported", [](auto& m) { never<team::overran>(m); }},
    {"the root believes that the sink has more results", [](auto& m) { m.sunk_too_early = 1; }},
    {"a rank may leave while its team needs it",
     [](auto& m) {
       m.wanted = [](auto& list) {
         for (std::size_t i = 0, n = list.size(); i < n; ++i)
           if (auto const* const s = std::get_if<team::send>(&list[i]);
               s != nullptr && std::holds_alternative<team::run>(s->what))
             list.push_back(team::send{s->to, team::released{1}});
       };
     }},
    {"the answer to a request is that to a later one",
     [](auto& m) { change<team::released>(m, [](auto& r) { r.number += 2; }); }},
    {"a stop drops the results of tasks that run", [](auto& m) { m.at_once = true; }},
    {"a rank does not end", [](auto& m) { drop_nth<role::end>(m, 2); }},
    {"no rank says that it has stopped", [](auto& m) { never<role::stopped>(m); }},
    {"no rank takes part", [](auto& m) { never<role::hello>(m); }},
    {"a rank that makes another call is not noticed",
     [](auto& m) { change<role::hello>(m, [](auto& h) { h.call_hash = peer_call_hash; }); }},
    {"an early stop",
     [](auto& m) {
       change_nth<role::tell_root>(m, 3, [](auto&, auto it) { *it = role::tell_root{role::please_stop{}}; });
     }},
    {"the outcome differs", [](auto& m) { tell_another_outcome(m); }},
    {"another task is named", [](auto& m) { change_outcome(m, [](auto& o) { ++o.task; }); }},
    {"the outcome counts a result too many", [](auto& m) { change_outcome(m, [](auto& o) { ++o.tasks; }); }},
    {"the outcome counts losses that are none",
     [](auto& m) { change_outcome(m, [](auto& o) { ++o.handed_out_again; }); }},
    {"losses are not noticed",
     [](auto& m) {
       m.heard = [](event const& e) { return e.what != event::kind::detect && e.what != event::kind::tick; };
     }},
    {"time stands still",
     [](auto& m) { m.heard = [](event const& e) { return e.what != event::kind::tick; }; }},
};

std::vector<named_fault<mutation>> const blame_faults{
    {"no task is left out", [](auto& m) { never_wanted<role::farm::leave_out>(m); }},
    {"a task is left out at its first loss",
     [](auto& m) {
       change_nth<team::drop>(m, 1, [](auto& list, auto) {
         list.push_back(role::farm::leave_out{0, 0, 1, "it"});
       });
     }},
    {"another task is left out",
     [](auto& m) {
       change_nth<role::farm::leave_out>(m, 1, [](auto&, auto it) {
         auto& l = std::get<role::farm::leave_out>(*it);
         l.task = l.task == 0 ? 1 : 0;
       });
     }},
    {"another task is blamed", [](auto& m) { change_outcome(m, [](auto& o) { ++o.task; }); }},
    {"time stands still",
     [](auto& m) { m.heard = [](event const& e) { return e.what != event::kind::tick; }; }},
};

}  // namespace

TEST_CASE("every deliberate fault of teams is caught") {
  check_all_are_caught<mutation>(
      faults,
      [](std::uint64_t seed, mutation& m) {
        team_harness::run(
            seed % 2 == 0 ? team_harness::random_scenario(seed) : team_harness::death_scenario(seed), &m);
      },
      40);
}

TEST_CASE("faults in blaming tasks are caught") {
  check_all_are_caught<mutation>(
      blame_faults,
      [](std::uint64_t seed, mutation& m) { team_harness::run(team_harness::poison_scenario(seed), &m); }, 5);
}
