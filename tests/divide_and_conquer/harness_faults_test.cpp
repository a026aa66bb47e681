// The harness of divide_and_conquer is tested, too: deliberate faults of the protocol must be noticed.
#include "catch.hpp"
#include "harness.hpp"
#include "role/harness_mutation.hpp"

namespace {

using kind = skel::role::peer_message_kind;
using partner_harness::event;
namespace act = skel::role::divide_act;
using namespace harness_common;
using mutation = basic_mutation<partner_harness::fault>;

// The message is about another group than it says.
void name_sibling(mutation& m, kind what) {
  change(m, what, [](auto& message) {
    if (message.ids.size() != 2 || message.ids[1] - message.ids[0] != 1) return;
    auto const shift = message.ids[0] % 2 == 0 ? 1 : -1;
    for (auto& id : message.ids) id = id + static_cast<std::uint64_t>(shift);
  });
}

std::vector<named_fault<mutation>> const faults{
    {"a problem is not kept", [](auto& m) { drop_nth<act::keep_problem>(m, 1); }},
    {"a solution is not kept", [](auto& m) { drop_nth<act::keep_solution>(m, 1); }},
    {"a later solution is not kept", [](auto& m) { drop_nth<act::keep_solution>(m, 4); }},
    {"a problem is not divided", [](auto& m) { drop_nth<act::divide>(m, 1); }},
    {"a part is not solved", [](auto& m) { drop_nth<act::solve>(m, 2); }},
    // A part that is solved twice costs work only: this was tried, it is no fault.
    {"solutions are not combined", [](auto& m) { drop_nth<act::combine>(m, 1); }},
    {"solutions are combined twice", [](auto& m) { twice<act::combine>(m, 1); }},
    {"the left half is taken for the whole",
     [](auto& m) {
       change_nth<act::keep_solution>(m, 2, [](auto&, auto it) {
         auto& s = std::get<act::keep_solution>(*it).group;
         s = s.first > 0 ? skel::role::rank_span{s.first - 1, s.last} : s;
       });
     }},
    {"the end comes twice", [](auto& m) { twice<act::complete>(m, 1); }},
    {"the end is overlooked", [](auto& m) { drop_nth<act::complete>(m, 1); }},
    {"a rank does not drain", [](auto& m) { drop_nth<act::drain>(m, 2); }},
    {"a rank does not end", [](auto& m) { drop_nth<skel::role::end>(m, 2); }},
    {"no problem arrives", [](auto& m) { never(m, kind::problem); }},
    {"a problem is lost", [](auto& m) { once_lost(m, kind::problem, 1); }},
    {"no solution arrives", [](auto& m) { never(m, kind::solution); }},
    {"a solution is lost", [](auto& m) { once_lost(m, kind::solution, 2); }},
    {"a solution is taken for its neighbour's", [](auto& m) { name_sibling(m, kind::solution); }},
    {"a problem is taken for its neighbour's", [](auto& m) { name_sibling(m, kind::problem); }},
    {"nobody is asked for problems", [](auto& m) { never(m, kind::need_problem); }},
    {"nobody is asked for solutions", [](auto& m) { never(m, kind::need_solution); }},
    {"the root is not told who is ready", [](auto& m) { never(m, kind::reached); }},
    {"a rank says that it is ready, and is not",
     [](auto& m) {
       change(m, kind::hello, [](auto& h) {
         h.kind = kind::reached;
         h.ids = {0, 2};
       });
     }},
    {"a lost part is kept secret", [](auto& m) { never(m, kind::part_lost); }},
    {"a part is called lost that is not",
     [](auto& m) { change(m, kind::reached, [](auto& r) { r.kind = kind::part_lost; }); }},
    {"a stop is lost", [](auto& m) { once_lost(m, kind::stop, 2); }},
    {"a stopped is lost", [](auto& m) { once_lost(m, kind::stopped, 2); }},
    {"a failure is kept secret", [](auto& m) { never(m, kind::failed); }},
    {"a rank that makes another call is not noticed",
     [](auto& m) { change(m, kind::hello, [](auto& h) { h.number = 42; }); }},
    {"the outcome differs", [](auto& m) { tell_another_outcome(m, kind::finish); }},
    {"losses are not noticed",
     [](auto& m) {
       m.heard = [](event const& e) { return e.what != event::kind::detect && e.what != event::kind::tick; };
     }},
    {"time stands still",
     [](auto& m) { m.heard = [](event const& e) { return e.what != event::kind::tick; }; }, 2800},
};

}  // namespace

TEST_CASE("every deliberate fault of divide_and_conquer is caught") {
  check_all_are_caught<mutation>(faults, [](std::uint64_t seed, mutation& m) {
    partner_harness::run(
        seed % 2 == 0 ? partner_harness::random_scenario(seed) : partner_harness::death_scenario(seed), &m);
  });
}
