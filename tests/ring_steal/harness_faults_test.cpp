// The harness of ring_steal is tested, too: deliberate faults of the protocol must be noticed.
#include "harness.hpp"
#include "role/harness_mutation.hpp"

namespace {

using skel::role::peer_message_kind;
using steal_harness::event;
namespace act = skel::role::loan_action;
using namespace harness_common;
using steal_harness::slip;

struct mutation : basic_mutation<steal_harness::fault> {
  std::optional<slip> slipping;
  bool slips(slip which) override { return slipping == which; }
};

std::vector<named_fault<mutation>> const faults{
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
    {"a rank does not end", [](auto& m) { drop_nth<skel::role::end>(m, 2); }},
    {"nobody asks whether loans are held", [](auto& m) { never(m, peer_message_kind::held); }},
    {"nobody says that a loan is not held", [](auto& m) { never(m, peer_message_kind::not_held); }},
    // A lost request costs time, a lost repayment is repaired on the next tick: both were tried, neither is a
    // fault.
    {"a repayment names the next loan",
     [](auto& m) { change(m, peer_message_kind::paid, [](auto& p) { ++p.number; }); }},
    {"a repayment comes from anybody",
     [](auto& m) {
       m.received = [&m](int, auto& what) {
         if (what.kind == peer_message_kind::revoke && m.nth(1)) what.kind = peer_message_kind::nothing;
         if (what.kind == peer_message_kind::not_held) what.ids.clear();
         return true;
       };
     }},
    {"a statement names the next loan",
     [](auto& m) { change(m, peer_message_kind::worth, [](auto& w) { ++w.number; }); }},
    {"a statement is taken for a repayment",
     [](auto& m) { change(m, peer_message_kind::worth, [](auto& w) { w.kind = peer_message_kind::paid; }); }},
    {"a debt is paid when it is returned",
     [](auto& m) {
       change(m, peer_message_kind::returned_loan, [](auto& r) { r.kind = peer_message_kind::paid; });
     }},
    {"a loan is returned, and its statement is not kept",
     [](auto& m) {
       m.received = [](int, auto& what) {
         if (what.kind == peer_message_kind::returned_loan) {
           what.ids = {what.number};
           what.kind = peer_message_kind::not_held;
         }
         return true;
       };
     }},
    {"nothing is recorded at an early end", [](auto& m) { never_wanted<act::record>(m); }},
    {"a statement leaves out what runs", [](auto& m) { m.slipping = slip::leaves_out_what_runs; }},
    {"a statement leaves out what is lent", [](auto& m) { m.slipping = slip::leaves_out_what_is_lent; }},
    {"a statement has results of loans beside all their tasks",
     [](auto& m) { m.slipping = slip::states_what_is_lent_as_it_was; }},
    {"what was lent is taken back, not what is left of it",
     [](auto& m) { m.slipping = slip::takes_back_what_was_lent; }},
    {"a stated result is not taken back", [](auto& m) { m.slipping = slip::forgets_a_stated_result; }},
    // A statement that is lost, or the first instead of the latest, is an older checkpoint, and no fault.
    {"an early stop",
     [](auto& m) {
       change(m, peer_message_kind::ask, [](auto& a) { a.kind = peer_message_kind::please_stop; });
     }},
    {"a stop is lost", [](auto& m) { once_lost(m, peer_message_kind::stop, 2); }},
    {"a stopped is lost", [](auto& m) { once_lost(m, peer_message_kind::stopped, 2); }},
    {"a failure is kept secret", [](auto& m) { never(m, peer_message_kind::failed); }},
    {"a rank that makes another call is not noticed",
     [](auto& m) { change(m, peer_message_kind::hello, [](auto& h) { h.number = 42; }); }},
    {"the outcome differs", [](auto& m) { tell_another_outcome(m, peer_message_kind::finish); }},
    {"losses are not noticed",
     [](auto& m) {
       m.heard = [](event const& e) { return e.what != event::kind::detect && e.what != event::kind::tick; };
     }},
    {"time stands still",
     [](auto& m) { m.heard = [](event const& e) { return e.what != event::kind::tick; }; }},
};

}  // namespace

TEST_CASE("every deliberate fault of ring_steal is caught") {
  check_all_are_caught<mutation>(faults, [](std::uint64_t seed, mutation& m) {
    steal_harness::run(
        seed % 2 == 0 ? steal_harness::random_scenario(seed) : steal_harness::death_scenario(seed), &m);
  });
}
