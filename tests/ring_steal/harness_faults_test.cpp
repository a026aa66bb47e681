// The harness of ring_steal is tested, too: deliberate faults of the protocol must be noticed.
#include "harness.hpp"
#include "role/harness_mutation.hpp"

namespace {

namespace role = skel::role;
namespace steal = role::steal;
using role::steal_message;
using steal_harness::event;
using namespace harness_common;
using steal_harness::slip;

struct mutation : basic_mutation<steal_harness::fault> {
  std::optional<slip> slipping;
  bool slips(slip which) override { return slipping == which; }
};

// Every message that is an `Own` is taken for another one.
template <class Own, class How>
void replace(mutation& m, How how) {
  m.received = [how](int, steal_message& what) {
    if (auto* const own = as<Own>(what)) what = how(*own);
    return true;
  };
}

std::vector<named_fault<mutation>> const faults{
    {"a result is merged twice", [](auto& m) { twice<steal::settle>(m, 2); }},
    {"a result is not merged", [](auto& m) { drop_nth<steal::settle>(m, 2); }},
    {"a loan is not taken back", [](auto& m) { drop_nth<steal::take_back>(m, 1); }},
    {"a loan is taken back into another debt",
     [](auto& m) {
       change_nth<steal::take_back>(m, 1, [](auto&, auto it) { std::get<steal::take_back>(*it).debt += 1; });
     }},
    {"a void debt is kept", [](auto& m) { drop_nth<steal::drop>(m, 1); }},
    {"a loan is not accepted", [](auto& m) { drop_nth<steal::accept>(m, 2); }},
    {"the end comes twice", [](auto& m) { twice<steal::complete>(m, 1); }},
    {"the end is overlooked", [](auto& m) { drop_nth<steal::complete>(m, 1); }},
    {"a rank does not drain", [](auto& m) { drop_nth<role::drain>(m, 2); }},
    {"a rank does not end", [](auto& m) { drop_nth<role::end>(m, 2); }},
    {"nobody asks whether loans are held", [](auto& m) { never<steal::held>(m); }},
    {"nobody says that a loan is not held", [](auto& m) { never<steal::not_held>(m); }},
    // A lost request costs time, a lost repayment is repaired on the next tick: both were tried, neither is a
    // fault.
    {"a repayment names the next loan", [](auto& m) { change<steal::paid>(m, [](auto& p) { ++p.loan; }); }},
    {"a repayment comes from anybody",
     [](auto& m) {
       m.received = [&m](int, auto& what) {
         if (as<steal::revoke>(what) != nullptr && m.nth(1)) what = steal::nothing{};
         if (auto* const n = as<steal::not_held>(what)) n->loans.clear();
         return true;
       };
     }},
    {"a statement names the next loan", [](auto& m) { change<steal::worth>(m, [](auto& w) { ++w.loan; }); }},
    {"a statement is taken for a repayment",
     [](auto& m) { replace<steal::worth>(m, [](auto& w) { return steal::paid{w.loan}; }); }},
    {"a debt is paid when it is returned",
     [](auto& m) { replace<steal::returned>(m, [](auto& r) { return steal::paid{r.loan}; }); }},
    {"a loan is returned, and its statement is not kept",
     [](auto& m) { replace<steal::returned>(m, [](auto& r) { return steal::not_held{{r.loan}}; }); }},
    {"nothing is recorded at an early end", [](auto& m) { never_wanted<steal::record>(m); }},
    {"a statement leaves out what runs", [](auto& m) { m.slipping = slip::leaves_out_what_runs; }},
    {"a statement leaves out what is lent", [](auto& m) { m.slipping = slip::leaves_out_what_is_lent; }},
    {"a statement has results of loans beside all their tasks",
     [](auto& m) { m.slipping = slip::states_what_is_lent_as_it_was; }},
    {"what was lent is taken back, not what is left of it",
     [](auto& m) { m.slipping = slip::takes_back_what_was_lent; }},
    {"a stated result is not taken back", [](auto& m) { m.slipping = slip::forgets_a_stated_result; }},
    // A statement that is lost, or the first instead of the latest, is an older checkpoint, and no fault.
    {"an early stop",
     [](auto& m) { replace<steal::ask>(m, [](auto&) { return role::call_message(role::please_stop{}); }); }},
    {"a stop is lost", [](auto& m) { once_lost<role::stop>(m, 2); }},
    {"a stopped is lost", [](auto& m) { once_lost<role::stopped>(m, 2); }},
    {"a failure is kept secret", [](auto& m) { never<role::failed>(m); }},
    {"a rank that makes another call is not noticed",
     [](auto& m) { change<role::hello>(m, [](auto& h) { h.call_hash = peer_call_hash; }); }},
    {"the outcome differs", [](auto& m) { tell_another_outcome(m); }},
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
