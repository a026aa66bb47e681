// Tests the bsp harness itself: it must detect deliberate protocol faults.
#include "catch.hpp"
#include "harness.hpp"
#include "protocol/harness_mutation.hpp"

namespace {

using bsp_harness::event;
namespace act = skel::role::bsp;
namespace role = skel::role;
using namespace harness_common;
using mutation = basic_mutation<bsp_harness::fault>;

// Changes the n-th action of kind A.
template <class A, class How>
void alter(mutation& m, int n, How how) {
  change_nth<A>(m, n, [how](auto&, auto it) { how(*action_as<A>(*it)); });
}

// Changes the n-th received message of type `Own`.
template <class Own>
void change_message(mutation& m, int n, std::function<void(Own&)> how) {
  m.received = [&m, n, how](int, auto& what) {
    if (auto* const own = as<Own>(what); own != nullptr && m.nth(n)) how(*own);
    return true;
  };
}

// Changes the first received notice.
void change_notice(mutation& m, std::function<void(act::notice&)> how) {
  m.received = [&m, how = std::move(how)](int, auto& what) {
    if (auto* const t = as<act::tally>(what); t != nullptr && !t->notices.empty() && m.nth(1))
      how(t->notices.front());
    return true;
  };
}

// Makes the root blame superstep 0 for the preceding loss instead of starting this epoch.
void blame_in_epoch(mutation& m, std::uint64_t epoch) {
  m.wanted = [&m, epoch](auto& list) {
    for (auto& a : list) {
      auto* const s = std::get_if<act::send>(&a);
      auto* const r = s == nullptr ? nullptr : std::get_if<act::restart>(&s->what);
      if (r != nullptr && r->epoch == epoch && m.nth(1)) {
        a = role::close{{.how = role::outcome::status::task_failed,
                         .task = 0,
                         .rank = 1,
                         .text = "superstep 0 was running on each of the lost ranks 1, 2, 3, 4, 5, 6, 7, 8"}};
        return;
      }
    }
  };
}

constexpr std::uint64_t poison = 3000000019;      // the first seed for poison_scenario()
constexpr std::uint64_t retirement = 4000000007;  // and for retirement_scenario()

std::vector<named_fault<mutation>> const faults{
    // Actions of a member.
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
    {"a state of another job is restored",
     [](auto& m) {
       m.wanted = [](auto& list) {
         for (auto& a : list)
           if (auto* const r = std::get_if<act::restore>(&a); r != nullptr && r->generation != 0)
             r->stamp = 0;
       };
     }},
    {"a superstep is not computed", [](auto& m) { drop_nth<act::compute>(m, 2); }},
    {"a superstep is computed twice", [](auto& m) { twice<act::compute>(m, 2); }},
    {"a superstep is skipped", [](auto& m) { alter<act::compute>(m, 3, [](auto& c) { ++c.step; }); }},
    {"a part is not saved", [](auto& m) { drop_nth<act::save>(m, 1); }},
    {"a part is saved twice", [](auto& m) { twice<act::save>(m, 1); }},
    {"a part is saved at the wrong place",
     [](auto& m) { alter<act::save>(m, 2, [](auto& s) { s.place = 0; }); }},
    {"a part is saved for another generation",
     [](auto& m) { alter<act::save>(m, 1, [](auto& s) { ++s.generation; }); }},
    {"a part is saved a superstep late", [](auto& m) { alter<act::save>(m, 1, [](auto& s) { ++s.step; }); }},
    {"the end is reported twice", [](auto& m) { twice<completes>(m, 1); }},
    {"the end is not reported", [](auto& m) { drop_nth<completes>(m, 1); }},
    {"a rank does not drain", [](auto& m) { drop_nth<role::drain>(m, 2); }},
    {"a rank does not end", [](auto& m) { drop_nth<role::end>(m, 2); }},
    // Decisions of the root.
    {"a checkpoint is not announced", [](auto& m) { drop_nth<act::announce>(m, 1); }},
    {"a number is used twice", [](auto& m) { alter<act::announce>(m, 2, [](auto& a) { --a.generation; }); }},
    {"a failed checkpoint stays open", [](auto& m) { drop_nth<act::abandon>(m, 1); }},
    {"a generation is not committed", [](auto& m) { drop_nth<act::commit>(m, 1); }},
    {"a generation is committed twice", [](auto& m) { twice<act::commit>(m, 1); }},
    {"another generation is committed",
     [](auto& m) { alter<act::commit>(m, 2, [](auto& c) { --c.generation; }); }},
    {"no fallback from an unreadable generation", [](auto& m) { drop_nth<act::fall_back>(m, 1); }},
    {"an unreadable store is not refused", [](auto& m) { drop_nth<act::refuse>(m, 1); }},
    {"a store is refused too early",
     [](auto& m) { change_nth<act::fall_back>(m, 1, [](auto&, auto it) { *it = act::refuse{"no"}; }); }},
    // Supersteps that kill.
    {"a superstep that kills is not blamed", [](auto& m) { drop_nth<blames>(m, 1); }, poison},
    {"a superstep that kills is never blamed", [](auto& m) { never_wanted<blames>(m); }, poison},
    {"another superstep is blamed", [](auto& m) { alter<blames>(m, 1, [](auto& b) { ++b.task; }); }, poison},
    {"a superstep is blamed for another rank",
     [](auto& m) { alter<blames>(m, 1, [](auto& b) { b.rank = 0; }); }, poison},
    {"a lost rank is not named",
     [](auto& m) { alter<blames>(m, 1, [](auto& b) { b.text.resize(b.text.rfind(',')); }); }, poison},
    {"a superstep is blamed for its first loss", [](auto& m) { blame_in_epoch(m, 2); }, poison},
    {"a superstep is blamed for its second loss", [](auto& m) { blame_in_epoch(m, 3); }, poison},
    {"members do not report that they join", [](auto& m) { never<act::joined>(m); }, poison},
    {"members join with the previous epoch",
     [](auto& m) {
       m.received = [](int, auto& what) {
         if (auto* const j = as<act::joined>(what)) --j->epoch;
         return true;
       };
     },
     poison},
    // Messages.
    {"no restart arrives", [](auto& m) { never<act::restart>(m); }},
    {"a member restores another generation",
     [](auto& m) {
       change_message<act::restart>(m, 4, [](auto& r) { r.generation -= r.generation > 0 ? 1 : 0; });
     }},
    {"a member stays in the first epoch",
     [](auto& m) {
       m.received = [](int to, auto& what) {
         auto const* const r = as<act::restart>(what);
         return r == nullptr || to != 1 || r->epoch == 1;
       };
     }},
    {"an epoch lacks a member",
     [](auto& m) {
       m.received = [&m](int, auto& what) {
         auto* const r = as<act::restart>(what);
         if (r != nullptr && r->members.size() > 1 && m.nth(2)) r->members.pop_back();
         return true;
       };
     }},
    {"a bundle is lost", [](auto& m) { once_lost<act::bundle>(m, 2); }},
    {"a bundle is of another superstep",
     [](auto& m) { change_message<act::bundle>(m, 2, [](auto& b) { ++b.step; }); }},
    {"a tally is lost", [](auto& m) { once_lost<act::tally>(m, 2); }},
    {"a tally is of another superstep",
     [](auto& m) { change_message<act::tally>(m, 2, [](auto& t) { ++t.step; }); }},
    {"a tally is of another round",
     [](auto& m) {
       m.received = [&m](int, auto& what) {
         if (auto* const t = as<act::tally>(what); t != nullptr && t->round == 1 && m.nth(1)) t->round = 2;
         return true;
       };
     }},
    {"a tally announces too few bundles", [](auto& m) { change_notice(m, [](auto& n) { --n.bundles; }); }},
    {"a tally announces too many bundles", [](auto& m) { change_notice(m, [](auto& n) { ++n.bundles; }); }},
    {"a tally announces a bundle for another member",
     [](auto& m) { change_notice(m, [](auto& n) { n.to = n.to == 0 ? 1 : 0; }); }},
    {"tallies announce no bundles",
     [](auto& m) { change<act::tally>(m, [](auto& t) { t.notices.clear(); }); }},
    {"a rank stops too early",
     [](auto& m) { change_message<act::tally>(m, 3, [](auto& t) { t.more = false; }); }},
    {"a rank never stops", [](auto& m) { change<act::tally>(m, [](auto& t) { t.more = true; }); }},
    {"a tally does not announce its checkpoint",
     [](auto& m) {
       m.received = [&m](int, auto& what) {
         if (auto* const t = as<act::tally>(what); t != nullptr && t->save != 0 && m.nth(1)) t->save = 0;
         return true;
       };
     }},
    // Supersteps that end with the neighbours.
    {"every bundle says that its sender continues",
     [](auto& m) { change<act::bundle>(m, [](auto& b) { b.more = true; }); }},
    {"an idle rank is not noticed", [](auto& m) { once_lost<act::idle>(m, 2); }},
    {"a rank is idle in another superstep",
     [](auto& m) { change_message<act::idle>(m, 2, [](auto& i) { ++i.step; }); }},
    {"no rank is asked whether it continues", [](auto& m) { never<act::ask>(m); }},
    {"ranks are asked about an earlier superstep",
     [](auto& m) { change<act::ask>(m, [](auto& a) { a.step -= a.step > 0 ? 1 : 0; }); }},
    {"an idle rank is not told that others continue", [](auto& m) { once_lost<act::goes_on>(m, 2); }},
    {"an idle rank is told that others continue, but none does",
     [](auto& m) { change<act::goes_on>(m, [](auto& g) { g.until += 3; }); }},
    {"the root does not notice that no rank continues", [](auto& m) { drop_nth<act::no_more>(m, 1); }},
    {"members are not asked where they are", [](auto& m) { never<act::where>(m); }},
    {"a member does not say where it is", [](auto& m) { once_lost<act::reached>(m, 2); }},
    {"a member is not asked where it is", [](auto& m) { once_lost<act::where>(m, 2); }},
    {"members say that they are further behind",
     [](auto& m) { change<act::reached>(m, [](auto& r) { r.next -= r.next > 0 ? 1 : 0; }); }},
    {"a member is not told before which superstep to save",
     [](auto& m) { once_lost<act::save_before>(m, 2); }},
    {"a member saves before another superstep",
     [](auto& m) { change_message<act::save_before>(m, 2, [](auto& b) { ++b.step; }); }},
    {"a saved part is not reported", [](auto& m) { once_lost<act::saved>(m, 2); }},
    {"a part is reported saved that is not",
     [](auto& m) { change_message<act::saved>(m, 2, [](auto& s) { s.well = true; }); }},
    {"a saved part names another generation",
     [](auto& m) { change_message<act::saved>(m, 1, [](auto& s) { ++s.generation; }); }},
    {"unreadable parts are not reported", [](auto& m) { never<act::unreadable>(m); }},
    {"a lost part is not reported", [](auto& m) { never<role::part_lost>(m); }},
    {"a part is reported lost that is not",
     [](auto& m) {
       m.received = [](int, auto& what) {
         if (as<act::saved>(what) != nullptr) what = role::call_message(role::part_lost{0});
         return true;
       };
     }},
    {"a stop message is lost", [](auto& m) { once_lost<role::stop>(m, 2); }},
    {"a stopped message is lost", [](auto& m) { once_lost<role::stopped>(m, 2); }},
    {"a failure is not reported", [](auto& m) { never<role::failed>(m); }},
    {"a rank that makes another call is not noticed",
     [](auto& m) { change<role::hello>(m, [](auto& h) { h.call_hash = 42; }); }},
    {"the outcome differs", [](auto& m) { tell_another_outcome(m); }},
    // Ranks that leave.
    {"members do not wait for a rank that leaves", [](auto& m) { never<act::hold>(m); }, retirement},
    {"members wait for a rank that stays",
     [](auto& m) {
       m.received = [](int, auto& what) {
         auto const* const h = as<act::hold>(what);
         return h == nullptr || h->generation != 0;
       };
     },
     retirement},
    {"members wait for a store that hangs", [](auto& m) { never<act::holds>(m); }, retirement},
    {"a rank may leave before its checkpoint is there",
     [](auto& m) {
       m.wanted = [](auto& list) {
         for (std::size_t i = 0, n = list.size(); i < n; ++i) {
           auto const* const s = std::get_if<act::send>(&list[i]);
           auto const* const h = s == nullptr ? nullptr : std::get_if<act::hold>(&s->what);
           if (h != nullptr && h->generation != 0) list.push_back(act::send{s->to, act::released{1}});
         }
       };
     },
     retirement},
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
    auto const s = seed >= retirement ? bsp_harness::retirement_scenario(seed)
                   : seed >= poison   ? bsp_harness::poison_scenario(seed)
                   : seed % 3 == 0    ? bsp_harness::random_scenario(seed)
                   : seed % 3 == 1    ? bsp_harness::death_scenario(seed)
                                      : bsp_harness::rerun_scenario(seed);
    bsp_harness::run(s, &m);
  });
}
