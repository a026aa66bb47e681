// Tests the divide_and_conquer harness itself: it must detect deliberate protocol faults.
#include "catch.hpp"
#include "harness.hpp"
#include "protocol/harness_mutation.hpp"

namespace {

using divide_harness::event;
namespace divide = skel::role::divide;
namespace role = skel::role;
using namespace harness_common;
using mutation = basic_mutation<divide_harness::fault>;

// Makes the message name a neighbouring group.
template <class What>
void name_sibling(mutation& m) {
  change<What>(m, [](What& what) {
    if (!what.group.single()) return;
    auto const shift = what.group.first % 2 == 0 ? 1 : -1;
    what.group = {what.group.first + shift, what.group.last + shift};
  });
}
// Replaces every received message of one kind.
template <class What, class Other>
void replace(mutation& m, Other other) {
  m.received = [other](int, auto& what) {
    if (as<What>(what) != nullptr) what = other;
    return true;
  };
}

std::vector<named_fault<mutation>> const faults{
    {"a problem is not kept", [](auto& m) { drop_nth<divide::keep_problem>(m, 1); }},
    {"a solution is not kept", [](auto& m) { drop_nth<divide::keep_solution>(m, 1); }},
    {"a later solution is not kept", [](auto& m) { drop_nth<divide::keep_solution>(m, 4); }},
    {"a problem is not divided", [](auto& m) { drop_nth<divide::divide>(m, 1); }},
    {"a part is not solved", [](auto& m) { drop_nth<divide::solve>(m, 2); }},
    // Not a fault: solving a part twice only costs work.
    {"solutions are not combined", [](auto& m) { drop_nth<divide::combine>(m, 1); }},
    {"solutions are combined twice", [](auto& m) { twice<divide::combine>(m, 1); }},
    {"a solution is taken for a larger group's",
     [](auto& m) {
       change_nth<divide::keep_solution>(m, 2, [](auto&, auto it) {
         auto& s = std::get<divide::keep_solution>(*it).group;
         s = s.first > 0 ? role::rank_span{s.first - 1, s.last} : s;
       });
     }},
    {"the end is reported twice", [](auto& m) { twice<completes>(m, 1); }},
    {"the end is not reported", [](auto& m) { drop_nth<completes>(m, 1); }},
    {"a rank does not drain", [](auto& m) { drop_nth<role::drain>(m, 2); }},
    {"a rank does not end", [](auto& m) { drop_nth<role::end>(m, 2); }},
    {"no problem arrives", [](auto& m) { never<divide::problem>(m); }},
    {"a problem is lost", [](auto& m) { once_lost<divide::problem>(m, 1); }},
    {"no solution arrives", [](auto& m) { never<divide::solution>(m); }},
    {"a solution is lost", [](auto& m) { once_lost<divide::solution>(m, 2); }},
    {"a solution is taken for its neighbour's", [](auto& m) { name_sibling<divide::solution>(m); }},
    {"a problem is taken for its neighbour's", [](auto& m) { name_sibling<divide::problem>(m); }},
    {"no rank is asked for problems", [](auto& m) { never<divide::need_problem>(m); }},
    {"no rank is asked for solutions", [](auto& m) { never<divide::need_solution>(m); }},
    {"the root does not learn which ranks are ready", [](auto& m) { never<divide::reached>(m); }},
    {"a rank reports that it is ready when it is not",
     [](auto& m) {
       replace<role::hello>(m, divide::reached{{0, 2}});
     }},
    {"a lost part is not reported", [](auto& m) { never<role::part_lost>(m); }},
    {"a part is reported lost that is not",
     [](auto& m) { replace<divide::reached>(m, role::call_message(role::part_lost{0})); }},
    {"a stop message is lost", [](auto& m) { once_lost<role::stop>(m, 2); }},
    {"a stopped message is lost", [](auto& m) { once_lost<role::stopped>(m, 2); }},
    {"a failure is not reported", [](auto& m) { never<role::failed>(m); }},
    {"a rank that makes another call is not noticed",
     [](auto& m) { change<role::hello>(m, [](auto& h) { h.call_hash = peer_call_hash; }); }},
    {"the outcome differs", [](auto& m) { tell_another_outcome(m); }},
    {"no rank may take over", [](auto& m) { never<divide::ask_takeover>(m); }},
    {"a permission is lost", [](auto& m) { once_lost<divide::allow_takeover>(m, 1); }},
    {"a later permission is lost", [](auto& m) { once_lost<divide::allow_takeover>(m, 3); }},
    {"the end of a takeover is lost", [](auto& m) { once_lost<divide::end_takeover>(m, 1); }},
    {"no rank does the work that the root leaves", [](auto& m) { never<divide::make_solution>(m); }},
    {"the root does work that it should leave",
     [](auto& m) {
       m.received = [](int, auto& what) {
         if (auto const* const l = std::get_if<divide::leave_takeover>(&what))
           what = divide::allow_takeover{l->work};
         return true;
       };
     }},
    {"several ranks take over at once",
     [](auto& m) {
       m.wanted = [](auto& list) {
         role::divide_actions more;
         for (auto const& a : list)
           if (auto const* const s = std::get_if<divide::send>(&a))
             if (std::holds_alternative<divide::allow_takeover>(s->what))
               for (int r = 1; r < s->to; ++r) more.push_back(divide::send{r, s->what});
         list.insert(list.end(), more.begin(), more.end());
       };
     }},
    {"work that kills ranks is not blamed", [](auto& m) { never_wanted<divide::blame>(m); }},
    {"work is blamed before any takeover",
     [](auto& m) {
       m.wanted = [](auto& list) {
         for (auto& a : list)
           if (auto const* const s = std::get_if<divide::send>(&a))
             if (auto const* const yes = std::get_if<divide::allow_takeover>(&s->what))
               a = divide::blame{yes->work, {yes->work.group.first}};
       };
     }},
    {"other work is blamed",
     [](auto& m) {
       change_nth<divide::blame>(m, 1, [](auto&, auto it) {
         auto& group = std::get<divide::blame>(*it).work.group;
         group = {0, group.last};
       });
     }},
    {"a living rank is counted as lost",
     [](auto& m) {
       change_nth<divide::blame>(m, 1,
                                 [](auto&, auto it) { std::get<divide::blame>(*it).ranks.push_back(0); });
     }},
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
    auto const s = seed % 3 == 0   ? divide_harness::random_scenario(seed)
                   : seed % 3 == 1 ? divide_harness::death_scenario(seed)
                                   : divide_harness::poison_scenario(seed);
    divide_harness::run(s, &m);
  });
}
