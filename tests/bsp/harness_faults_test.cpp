// The harness of bsp is tested, too: deliberate faults of the protocol must be noticed.
#include "catch.hpp"
#include "harness.hpp"
#include "role/harness_mutation.hpp"

namespace {

using kind = skel::role::peer_message_kind;
using bsp_harness::event;
namespace act = skel::role::bsp_action;
using namespace harness_common;
using mutation = basic_mutation<bsp_harness::fault>;

// Changes the n-th action of kind A.
template <class A, class How>
void alter(mutation& m, int n, How how) {
  change_nth<A>(m, n, [how](auto&, auto it) { how(std::get<A>(*it)); });
}

// Changes number `i` of the n-th message of a kind.
void change_id(mutation& m, kind what, std::size_t i, int n, std::function<void(std::uint64_t&)> how) {
  m.received = [&m, what, i, n, how](int, auto& message) {
    if (message.kind == what && message.ids.size() > i && m.nth(n)) how(message.ids[i]);
    return true;
  };
}

std::vector<named_fault<mutation>> const faults{
    // What a member does.
    {"a bundle is not kept", [](auto& m) { drop_nth<act::keep>(m, 2); }},
    {"a bundle is kept twice", [](auto& m) { twice<act::keep>(m, 3); }},
    {"a bundle is kept for another superstep",
     [](auto& m) { alter<act::keep>(m, 2, [](auto& k) { ++k.step; }); }},
    {"bundles of an epoch that has ended are kept", [](auto& m) { never_wanted<act::forget>(m); }},
    {"bundles of this epoch are forgotten",
     [](auto& m) { alter<act::forget>(m, 4, [](auto& f) { ++f.epoch; }); }},
    {"a state is not restored", [](auto& m) { drop_nth<act::restore>(m, 1); }},
    {"a state is restored at the wrong place",
     [](auto& m) { alter<act::restore>(m, 2, [](auto& r) { r.place = 0; }); }},
    {"a state is restored from the beginning",
     [](auto& m) {
       m.wanted = [](auto& list) {
         for (auto& a : list)
           if (auto* const r = std::get_if<act::restore>(&a); r != nullptr && r->place == 1)
             r->generation = 0;
       };
     }},
    {"a superstep is not computed", [](auto& m) { drop_nth<act::compute>(m, 2); }},
    {"a superstep is computed twice", [](auto& m) { twice<act::compute>(m, 2); }},
    {"a superstep is left out", [](auto& m) { alter<act::compute>(m, 3, [](auto& c) { ++c.step; }); }},
    {"a part is not saved", [](auto& m) { drop_nth<act::save>(m, 1); }},
    {"a part is saved twice", [](auto& m) { twice<act::save>(m, 1); }},
    {"a part is saved as another", [](auto& m) { alter<act::save>(m, 2, [](auto& s) { s.place = 0; }); }},
    {"a part is saved as of another generation",
     [](auto& m) { alter<act::save>(m, 1, [](auto& s) { ++s.generation; }); }},
    {"a part is saved a superstep late", [](auto& m) { alter<act::save>(m, 1, [](auto& s) { ++s.step; }); }},
    {"the end comes twice", [](auto& m) { twice<act::complete>(m, 1); }},
    {"the end is overlooked", [](auto& m) { drop_nth<act::complete>(m, 1); }},
    {"a rank does not drain", [](auto& m) { drop_nth<act::drain>(m, 2); }},
    {"a rank does not end", [](auto& m) { drop_nth<skel::role::end>(m, 2); }},
    // What the conductor decides.
    {"a checkpoint is not announced", [](auto& m) { drop_nth<act::announce>(m, 1); }},
    {"a number is used twice", [](auto& m) { alter<act::announce>(m, 2, [](auto& a) { --a.generation; }); }},
    {"a failed checkpoint stays open", [](auto& m) { drop_nth<act::abandon>(m, 1); }},
    {"a generation is not committed", [](auto& m) { drop_nth<act::commit>(m, 1); }},
    {"a generation is committed twice", [](auto& m) { twice<act::commit>(m, 1); }},
    {"another generation is committed",
     [](auto& m) { alter<act::commit>(m, 2, [](auto& c) { --c.generation; }); }},
    {"nobody is told that a generation cannot be read", [](auto& m) { drop_nth<act::fall_back>(m, 1); }},
    {"a store without anything readable is not refused", [](auto& m) { drop_nth<act::refuse>(m, 1); }},
    {"a store is refused too early",
     [](auto& m) { change_nth<act::fall_back>(m, 1, [](auto&, auto it) { *it = act::refuse{"no"}; }); }},
    // Messages.
    {"an epoch is kept secret", [](auto& m) { never(m, kind::restart); }},
    {"a member restores another generation",
     [](auto& m) { change_id(m, kind::restart, 0, 4, [](auto& g) { g = g > 0 ? g - 1 : 0; }); }},
    {"a member goes on in the old epoch",
     [](auto& m) {
       m.received = [](int to, auto& what) {
         return what.kind != kind::restart || to != 1 || what.number == 1;
       };
     }},
    {"an epoch lacks a member",
     [](auto& m) {
       m.received = [&m](int, auto& what) {
         if (what.kind == kind::restart && what.ids.size() > 3 && m.nth(2)) what.ids.pop_back();
         return true;
       };
     }},
    {"a bundle is lost", [](auto& m) { once_lost(m, kind::bundle, 2); }},
    {"a bundle is of another superstep",
     [](auto& m) { change_id(m, kind::bundle, 0, 2, [](auto& s) { ++s; }); }},
    {"a rank stops too early",
     [](auto& m) { change_id(m, kind::bundle, 1, 3, [](auto& more) { more = 0; }); }},
    {"a rank never stops", [](auto& m) { change_id(m, kind::bundle, 1, 5, [](auto& more) { more = 1; }); }},
    {"a member does not hear of a checkpoint",
     [](auto& m) {
       m.received = [&m](int, auto& what) {
         if (what.kind == kind::bundle && what.ids[2] != 0 && m.nth(1)) what.ids[2] = 0;
         return true;
       };
     }},
    {"a saved part is kept secret", [](auto& m) { once_lost(m, kind::saved, 2); }},
    {"a part that is not saved counts",
     [](auto& m) { change_id(m, kind::saved, 1, 2, [](auto& w) { w = 1; }); }},
    {"a saved part is of another generation",
     [](auto& m) { change_id(m, kind::saved, 0, 1, [](auto& g) { ++g; }); }},
    {"nobody hears that a part cannot be read", [](auto& m) { never(m, kind::unreadable); }},
    {"a lost part is kept secret", [](auto& m) { never(m, kind::part_lost); }},
    {"a part is called lost that is not",
     [](auto& m) {
       change(m, kind::saved, [](auto& s) {
         s.kind = kind::part_lost;
         s.ids.clear();
       });
     }},
    {"a stop is lost", [](auto& m) { once_lost(m, kind::stop, 2); }},
    {"a stopped is lost", [](auto& m) { once_lost(m, kind::stopped, 2); }},
    {"a failure is kept secret", [](auto& m) { never(m, kind::failed); }},
    {"a rank that makes another call is not noticed",
     [](auto& m) { change(m, kind::hello, [](auto& h) { h.number = 42; }); }},
    {"the outcome differs", [](auto& m) { tell_another_outcome(m, kind::finish); }},
    // Time and losses.
    {"losses are not noticed",
     [](auto& m) {
       m.heard = [](event const& e) { return e.what != event::kind::detect && e.what != event::kind::tick; };
     }},
    {"time stands still",
     [](auto& m) { m.heard = [](event const& e) { return e.what != event::kind::tick; }; }},
};

}  // namespace

TEST_CASE("every deliberate fault of bsp is caught") {
  check_all_are_caught<mutation>(faults, [](std::uint64_t seed, mutation& m) {
    auto const s = seed % 3 == 0   ? bsp_harness::random_scenario(seed)
                   : seed % 3 == 1 ? bsp_harness::death_scenario(seed)
                                   : bsp_harness::rerun_scenario(seed);
    bsp_harness::run(s, &m);
  });
}
