// Tests the harness of multi_host: it must detect deliberate faults of the protocol.
#include <set>

#include "catch.hpp"
#include "harness.hpp"
#include "protocol/harness_mutation.hpp"

namespace {

namespace role = skel::role;
namespace group = role::group;
using group_harness::event;
using namespace harness_common;
using mutation = basic_mutation<group_harness::fault>;

// Changes the n-th message of type `Own`.
template <class Own, class How>
void change_one(mutation& m, int n, How how) {
  m.received = [&m, n, how](int, auto& message) {
    if (auto* const own = as<Own>(message); own != nullptr && m.nth(n)) how(*own);
    return true;
  };
}

std::vector<named_fault<mutation>> const faults{
    {"a unit is not read", [](auto& m) { drop_nth<group::read>(m, 2); }},
    {"a unit is read twice", [](auto& m) { twice<group::read>(m, 1); }},
    {"a unit is left out",
     [](auto& m) {
       change_nth<group::read>(m, 2, [](auto&, auto it) { ++std::get<group::read>(*it).unit; });
     }},
    {"a new host thinks that it has state",
     [](auto& m) {
       change_nth<group::read>(m, 2, [](auto&, auto it) { std::get<group::read>(*it).fresh ^= true; });
     }},
    {"results are not kept", [](auto& m) { drop_nth<group::keep>(m, 1); }},
    {"results are kept twice", [](auto& m) { twice<group::keep>(m, 2); }},
    {"results are kept as others'",
     [](auto& m) {
       change_nth<group::keep>(m, 1, [](auto&, auto it) { ++std::get<group::keep>(*it).pieces.first; });
     }},
    {"a unit does not leave", [](auto& m) { drop_nth<group::deliver>(m, 1); }},
    {"a packet is not accepted", [](auto& m) { drop_nth<group::accept>(m, 1); }},
    {"a piece is not processed", [](auto& m) { drop_nth<group::execute>(m, 2); }},
    {"a unit is not recorded", [](auto& m) { drop_nth<group::record>(m, 1); }},
    {"a unit is recorded twice", [](auto& m) { twice<group::record>(m, 1); }},
    {"the clock starts twice", [](auto& m) { twice<group::started>(m, 1); }},
    {"the clock does not start", [](auto& m) { drop_nth<group::started>(m, 1); }},
    {"a rank does not drain", [](auto& m) { drop_nth<role::drain>(m, 1); }},
    {"a rank does not end", [](auto& m) { drop_nth<role::end>(m, 2); }},
    {"no rank leads", [](auto& m) { never<group::lead>(m); }},
    {"an appointment is lost", [](auto& m) { once_lost<group::lead>(m, 2); }},
    {"an order is lost", [](auto& m) { once_lost<group::serve>(m, 1); }},
    {"a share is longer than it is",
     [](auto& m) { change_one<group::lead>(m, 1, [](auto& l) { ++l.units.end; }); }},
    {"a share begins too late",
     [](auto& m) { change_one<group::lead>(m, 1, [](auto& l) { ++l.units.first; }); }},
    {"a member is sent to another host",
     [](auto& m) {
       change_one<group::serve>(m, 2, [](auto& s) { s.host = s.host && *s.host > 0 ? *s.host - 1 : 1; });
     }},
    {"no rank may give", [](auto& m) { never<group::go>(m); }},
    {"a request is lost for ever", [](auto& m) { never<group::request>(m); }},
    {"a packet is lost", [](auto& m) { once_lost<group::packet>(m, 2); }},
    {"packets hold other pieces",
     [](auto& m) { change_one<group::packet>(m, 2, [](auto& p) { ++p.pieces.first; }); }},
    {"packets are of another unit",
     [](auto& m) { change_one<group::packet>(m, 1, [](auto& p) { ++p.pieces.unit; }); }},
    {"results are lost", [](auto& m) { once_lost<group::returned>(m, 1); }},
    {"results of other pieces",
     [](auto& m) {
       change_one<group::returned>(m, 1, [](auto& r) {
         if (!r.runs.empty()) ++r.runs.front().first;
       });
     }},
    {"results of a unit are lost", [](auto& m) { once_lost<group::unit_done>(m, 1); }},
    {"a unit is taken for another",
     [](auto& m) { change_one<group::unit_done>(m, 1, [](auto& d) { d.unit ^= 1; }); }},
    {"a unit that does not exist is done",
     [](auto& m) { change_one<group::unit_done>(m, 1, [](auto& d) { d.unit = 99; }); }},
    {"no rank hears that the first units are read", [](auto& m) { never<group::loaded>(m); }},
    {"a stop message is lost", [](auto& m) { once_lost<role::stop>(m, 2); }},
    {"a stopped message is lost", [](auto& m) { once_lost<role::stopped>(m, 2); }},
    {"a failure is not reported", [](auto& m) { never<role::failed>(m); }},
    {"a rank that makes another call is not noticed",
     [](auto& m) { change<role::hello>(m, [](auto& h) { h.call_hash = 42; }); }},
    {"the outcome differs", [](auto& m) { tell_another_outcome(m); }},
    {"losses are not noticed",
     [](auto& m) {
       m.heard = [](event const& e) { return e.what != event::kind::detect && e.what != event::kind::tick; };
     }},
    {"time stands still",
     [](auto& m) { m.heard = [](event const& e) { return e.what != event::kind::tick; }; }},
};

// Faults of splitting a share.
std::vector<named_fault<mutation>> const faults_of_splits{
    {"no rank is asked to let go", [](auto& m) { once_lost<group::split>(m, 1); }},
    {"no rank hears what was let go", [](auto& m) { once_lost<group::let_go>(m, 1); }},
    {"no rank takes a unit that was let go",
     [](auto& m) { change_one<group::let_go>(m, 1, [](auto& l) { ++l.end; }); }},
    {"a unit that was not let go is taken",
     [](auto& m) { change_one<group::let_go>(m, 1, [](auto& l) { --l.end; }); }},
    {"a host goes on with a unit that it let go",
     [](auto& m) {
       m.wanted = [&m](auto& list) {
         for (auto& action : list)
           if (auto* const s = std::get_if<group::send>(&action);
               s != nullptr && std::holds_alternative<group::let_go>(s->what) && m.nth(1))
             --std::get<group::let_go>(s->what).end;
       };
     }},
    {"all of a share is let go",
     [](auto& m) { change_one<group::let_go>(m, 1, [](auto& l) { l.end = 0; }); }},
    {"more is let go than there is",
     [](auto& m) { change_one<group::let_go>(m, 1, [](auto& l) { l.end += 99; }); }},
    {"what is left after a split is not known",
     [](auto& m) { change_one<group::let_go>(m, 1, [](auto& l) { l.left = 0; }); }},
};

// A lead for a term that its rank has led before: small groups were joined.
void when_joined(mutation& m, std::function<bool(group::lead&)> how) {
  auto led = std::make_shared<std::set<role::term_id>>();
  m.received = [&m, led, how](int, auto& message) {
    auto* const lead = as<group::lead>(message);
    bool const again = lead != nullptr && !led->insert(lead->term).second;
    return !again || !m.nth(1) || how(*lead);
  };
}

std::vector<named_fault<mutation>> const faults_of_joining{
    {"a leader does not hear of its larger group",
     [](auto& m) { when_joined(m, [](auto& /*lead*/) { return false; }); }},
    {"a larger group ends early",
     [](auto& m) {
       when_joined(m, [](auto& lead) {
         --lead.units.end;
         return true;
       });
     }},
    {"a host goes on after its group was joined to another",
     [](auto& m) {
       m.received = [&m](int, auto& message) {
         if (auto* const s = as<group::serve>(message); s != nullptr && s->ended != 0 && m.nth(1))
           s->ended = 0;
         return true;
       };
     }},
};

// Faults of blaming work that kills its process.
std::vector<named_fault<mutation>> const faults_of_blame{
    {"no rank hears which suspect begins", [](auto& m) { never<group::begins>(m); }},
    {"a rank says that it begins another piece",
     [](auto& m) { change<group::begins>(m, [](auto& b) { b.piece ^= 1; }); }},
    {"no rank hears which unit is opened", [](auto& m) { never<group::opens>(m); }},
    {"a unit that was open on a lost host is led with others",
     [](auto& m) {
       change<group::lead>(m, [](auto& l) {
         l.units.end += l.units.alone && l.units.more ? 1 : 0;
         l.units.alone = false;
       });
     }},
    {"a suspect is given to no rank",
     [](auto& m) {
       m.received = [](int, auto& what) {
         auto const* const p = as<group::packet>(what);
         return p == nullptr || !p->suspect;
       };
     }},
    {"a suspect is taken for an ordinary piece",
     [](auto& m) { change<group::packet>(m, [](auto& p) { p.suspect = false; }); }},
    {"a suspect is given to the root",
     [](auto& m) {
       m.wanted = [](auto& list) {
         for (auto& action : list)
           if (auto* const s = std::get_if<group::send>(&action))
             if (auto const* const p = std::get_if<group::packet>(&s->what); p != nullptr && p->suspect)
               s->to = 0;
       };
     }},
    {"a host does not hear that no other rank will process suspects",
     [](auto& m) { never<group::last_resort>(m); }},
    {"the root does not hear of suspects",
     [](auto& m) { change<group::left>(m, [](auto& l) { l.suspects = false; }); }},
    {"work is blamed for the first loss",
     [](auto& m) {
       m.wanted = [](auto& list) {
         for (std::size_t i = 0, n = list.size(); i < n; ++i)
           if (auto const* const s = std::get_if<group::send>(&list[i]))
             if (auto const* const p = std::get_if<group::packet>(&s->what); p != nullptr && p->suspect) {
               role::tell_root t{role::blamed{p->pieces.unit, {1}, 0, "piece 7 of unit 0"}};
               list.push_back(std::move(t));
             }
       };
     }},
    {"another unit is blamed", [](auto& m) { change<role::blamed>(m, [](auto& b) { b.task ^= 1; }); }},
    {"no rank hears what is to blame", [](auto& m) { never<role::blamed>(m); }},
};

// Deadly work, and no other failure.
group_harness::scenario only_deadly(std::uint64_t seed) {
  auto s = group_harness::deadly_scenario(seed);
  s.deaths = s.suspicions = 0;
  s.last_words = true;
  return s;
}

// Many units, without deaths, failures or stops: a violation can only come from the fault.
group_harness::scenario without_trouble(std::uint64_t seed, int least_ranks, unsigned group_size) {
  auto s = group_harness::random_scenario(seed);
  s.ranks = least_ranks + static_cast<int>(seed % 3);
  s.units = 12 + seed % 12;
  s.most_pieces = 3;
  s.group_size = group_size;
  s.deaths = s.suspicions = 0;
  s.failing.reset();
  s.other_call.reset();
  s.stops_early = false;
  return s;
}

}  // namespace

TEST_CASE("the harness detects every deliberate fault of multi_host") {
  check_all_are_caught<mutation>(faults, [](std::uint64_t seed, mutation& m) {
    group_harness::run(
        seed % 2 == 0 ? group_harness::random_scenario(seed) : group_harness::death_scenario(seed), &m);
  });
}

TEST_CASE("the harness detects every deliberate fault of joining groups") {
  auto const run = [](std::uint64_t seed, mutation& m) {
    group_harness::run(without_trouble(seed, 4, 0), &m);
  };
  check_all_are_caught<mutation>(faults_of_joining, run, static_cast<int>(faults_of_joining.size()));
}

TEST_CASE("the harness detects every deliberate fault of splitting a share") {
  auto const run = [](std::uint64_t seed, mutation& m) {
    auto s = without_trouble(seed, 2, 1);
    s.reassigns = s.splits = s.uneven = true;
    s.left_alone = 0;
    group_harness::run(s, &m);
  };
  check_all_are_caught<mutation>(faults_of_splits, run, static_cast<int>(faults_of_splits.size()));
}

TEST_CASE("the harness detects every deliberate fault of blaming deadly work") {
  auto const run = [](std::uint64_t seed, mutation& m) { group_harness::run(only_deadly(seed), &m); };
  check_all_are_caught<mutation>(faults_of_blame, run, static_cast<int>(faults_of_blame.size()));
}
