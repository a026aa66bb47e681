// Tests the ring_steal harness itself: it must detect deliberate protocol faults.
#include "harness.hpp"
#include "protocol/harness_mutation.hpp"

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

// Replaces every received message of type `Own` by another one.
template <class Own, class How>
void replace(mutation& m, How how) {
  m.received = [how](int, steal_message& what) {
    if (auto* const own = as<Own>(what)) what = how(*own);
    return true;
  };
}

// Between two numbers of loans of one rank, in scenarios of three ranks.
constexpr skel::role::loan_id three_ranks = 3;

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
    {"the end is reported twice", [](auto& m) { twice<steal::complete>(m, 1); }},
    {"the end is not reported", [](auto& m) { drop_nth<steal::complete>(m, 1); }},
    {"a rank does not drain", [](auto& m) { drop_nth<role::drain>(m, 2); }},
    {"a rank does not end", [](auto& m) { drop_nth<role::end>(m, 2); }},
    {"no rank asks whether loans are held", [](auto& m) { never<steal::held>(m); }},
    {"no rank reports that a loan is not held", [](auto& m) { never<steal::not_held>(m); }},
    // Not faults: a lost request only costs time, and a lost repayment is repaired on the next tick.
    {"a repayment names the next loan",
     [](auto& m) { change<steal::paid>(m, [](auto& p) { p.loan += three_ranks; }); }},
    {"a revoked loan is kept",
     [](auto& m) {
       m.received = [&m](int, auto& what) {
         if (as<steal::revoke>(what) != nullptr && m.nth(1)) what = steal::nothing{};
         if (auto* const n = as<steal::not_held>(what)) n->loans.clear();
         return true;
       };
     }},
    {"a statement names the next loan",
     [](auto& m) { change<steal::worth>(m, [](auto& w) { w.loan += three_ranks; }); }},
    {"a statement is taken for a repayment",
     [](auto& m) { replace<steal::worth>(m, [](auto& w) { return steal::paid{w.loan}; }); }},
    {"a debt is paid when it is returned",
     [](auto& m) { replace<steal::returned>(m, [](auto& r) { return steal::paid{r.loan}; }); }},
    {"a loan is returned, and its statement is not kept",
     [](auto& m) { replace<steal::returned>(m, [](auto& r) { return steal::not_held{{r.loan}}; }); }},
    {"an early end records no checkpoint", [](auto& m) { never_wanted<steal::record>(m); }},
    {"a statement omits the running task", [](auto& m) { m.slipping = slip::leaves_out_what_runs; }},
    {"a statement omits lent tasks", [](auto& m) { m.slipping = slip::leaves_out_what_is_lent; }},
    {"a statement repeats finished tasks of loans",
     [](auto& m) { m.slipping = slip::states_what_is_lent_as_it_was; }},
    {"finished tasks of a loan are taken back too",
     [](auto& m) { m.slipping = slip::takes_back_what_was_lent; }},
    {"a stated result is not taken back", [](auto& m) { m.slipping = slip::forgets_a_stated_result; }},
    {"a bound improves on its way",
     [](auto& m) { change<steal::better>(m, [](auto& b) { b.bound += 11; }); }},
    {"a loan brings a bound that no task has found",
     [](auto& m) { change<steal::loan>(m, [](auto& l) { l.bound += 11; }); }},
    // Not faults: losing a statement, or using the first instead of the latest, only yields an older
    // checkpoint.
    {"an early stop",
     [](auto& m) { replace<steal::ask>(m, [](auto&) { return role::call_message(role::please_stop{}); }); }},
    {"a stop message is lost", [](auto& m) { once_lost<role::stop>(m, 2); }},
    {"a stopped message is lost", [](auto& m) { once_lost<role::stopped>(m, 2); }},
    {"a failure is not reported", [](auto& m) { never<role::failed>(m); }},
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

// Changes the message that blames a loan.
template <class How>
void change_blame(mutation& m, How how) {
  m.wanted = [how](auto& list) {
    for (auto& a : list)
      if (auto* const t = std::get_if<role::tell_root>(&a))
        if (auto* const b = std::get_if<role::blamed>(&t->what)) how(*b);
  };
}

std::vector<named_fault<mutation>> const blame_faults{
    {"no loan is ever blamed", [](auto& m) { never<role::blamed>(m); }},
    {"a loan is blamed at its first loss",
     [](auto& m) {
       change_nth<steal::set_apart>(m, 1, [](auto& list, auto it) {
         list.push_back(role::tell_root{role::blamed{std::get<steal::set_apart>(*it).loan, {1}}});
       });
     }},
    {"another loan is blamed", [](auto& m) { change_blame(m, [](auto& b) { b.task += 1; }); }},
    {"a living rank is named", [](auto& m) { change_blame(m, [](auto& b) { b.ranks.push_back(0); }); }},
    {"too few ranks are named", [](auto& m) { change_blame(m, [](auto& b) { b.ranks.resize(1); }); }},
    {"a parcel that is lent counts as begun", [](auto& m) { m.slipping = slip::takes_lent_for_begun; }},
    {"a parcel is lent to the root",
     [](auto& m) {
       change_nth<steal::lend_again>(m, 1, [](auto&, auto it) { std::get<steal::lend_again>(*it).to = 0; });
     }},
    {"suspect tasks are lent on to the root",
     [](auto& m) { change<steal::loan>(m, [](auto& l) { l.suspect = false; }); }},
    {"a parcel is lent to no rank", [](auto& m) { never_wanted<steal::lend_again>(m); }},
    {"a parcel is taken back and run",
     [](auto& m) {
       change_nth<steal::set_apart>(m, 1, [](auto&, auto it) {
         auto const s = std::get<steal::set_apart>(*it);
         *it = steal::take_back{s.loan, s.debt};
       });
     }},
    {"a parcel that is lent again is lost",
     [](auto& m) {
       m.received = [](int, auto& what) {
         auto* const l = as<steal::loan>(what);
         return l == nullptr || !l->again;
       };
     }},
};

std::vector<named_fault<mutation>> const retirement_faults{
    {"a rank leaves before all have heard", [](auto& m) { m.slipping = slip::leaves_unheard; }},
    {"a borrower is taken for silent before it is",
     [](auto& m) { m.slipping = slip::takes_asked_for_silent; }},
    {"a borrower hears of no new lender", [](auto& m) { never<steal::inherits>(m); }},
    {"a borrower hears of another loan's new lender",
     [](auto& m) { change<steal::inherits>(m, [](auto& i) { ++i.loan; }); }},
    {"a borrower hears the name of another leaver",
     [](auto& m) { change<steal::inherits>(m, [](auto& i) { i.of = i.of == 0 ? 1 : i.of - 1; }); }},
    {"a borrower does not say that it has heard", [](auto& m) { never<steal::heard>(m); }},
    {"a loan is not inherited",
     [](auto& m) {
       change<steal::bequeaths>(m, [](auto& b) {
         if (!b.loans.empty()) b.loans.pop_back();
       });
     }},
    {"a loan is inherited under another number",
     [](auto& m) {
       change<steal::bequeaths>(m, [](auto& b) {
         if (!b.loans.empty()) b.loans.back().number += 1000;
       });
     }},
    {"a loan is inherited with another borrower",
     [](auto& m) {
       change<steal::bequeaths>(m, [](auto& b) {
         for (auto& l : b.loans) l.borrower = l.borrower == 0 ? 1 : 0;
       });
     }},
    {"what is handed back has no tasks",
     [](auto& m) { change<steal::bequeaths>(m, [](auto& b) { b.work = false; }); }},
    {"what is handed back is not suspect",
     [](auto& m) { change<steal::bequeaths>(m, [](auto& b) { b.suspect = false; }); }},
    {"what is handed back is lost", [](auto& m) { never<steal::bequeaths>(m); }},
    {"a part of what is inherited stays apart", [](auto& m) { drop_nth<steal::absorb>(m, 1); }},
    {"a loan of two lenders is not void", [](auto& m) { never<steal::revoke>(m); }},
};

}  // namespace

TEST_CASE("faults of ranks that leave are caught") {
  check_all_are_caught<mutation>(
      retirement_faults,
      [](std::uint64_t seed, mutation& m) {
        steal_harness::run(steal_harness::retirement_scenario(seed), &m);
      },
      10);
}

TEST_CASE("faults in blaming loans are caught") {
  check_all_are_caught<mutation>(
      blame_faults,
      [](std::uint64_t seed, mutation& m) { steal_harness::run(steal_harness::poison_scenario(seed), &m); },
      8);
}

TEST_CASE("every deliberate fault of ring_steal is caught") {
  check_all_are_caught<mutation>(faults, [](std::uint64_t seed, mutation& m) {
    steal_harness::run(
        seed % 2 == 0 ? steal_harness::random_scenario(seed) : steal_harness::death_scenario(seed), &m);
  });
}
