#include "ring_steal/role/member.hpp"

#include <utility>

#include "base/overloaded.hpp"

namespace skel::role {

steal_member::steal_member(steal_member_config const& c)
    : attendance_(c.self, c.root),
      thief_(c.self, c.root, c.ranks, c.order),
      thieves_(c.root),
      debts_(c.self, c.records),
      loans_({c.self, c.root, c.ranks, c.most_losses, c.most_parcels}),
      bounds_(c.self, c.ranks),
      departure_(c.self),
      config_(c) {}

void steal_member::begin(steal_actions& out) {
  begun_ = true;
  out.push_back(tell_root{hello{config_.call_hash}});
  if (config_.self == config_.root) debts_.open({.lender = config_.self});
  turn_to_work(out);
}

// --- work

// Starts the next debt with tasks, or asks a rank for tasks.
void steal_member::turn_to_work(steal_actions& out) {
  if (!hungry() || debts_.turn_to_work(out)) return;
  nothing_to_spare(out);
  thief_.ask_next(bounds_.best(), out);
}

void steal_member::retry(steal_actions& out) {
  if (!resting()) return;
  thief_.rested();
  turn_to_work(out);
}

void steal_member::dry(debt_id id, steal_actions& out) {
  if (debts_.current() != id) return;
  debts_.dry(out);
  turn_to_work(out);
}

void steal_member::spare(debt_id id, steal_actions& out) {
  auto* const d = debts_.find(id);
  auto const to = d == nullptr || attendance_.draining() ? std::nullopt : thieves_.take(*d);
  if (!to) return;
  loan_id const number = loans_.lend(id, *d, *to);
  out.push_back(steal::send{*to, steal::loan{number, d->suspect, false, bounds_.best()}, id});
  thief_.knows(*to);
  thieves_.send_half(*to, out);
}

// --- messages

void steal_member::on(rank_id from, steal_message const& m, steal_actions& out) {
  if (attendance_.ended()) return;
  thief_.heard(from);
  loans_.heard(from);
  std::visit(overloaded{[&](call_message const& own) { on(from, own, out); },
                        [&](steal::ask const& own) { on(from, own, out); },
                        [&](steal::nothing const& own) { thief_.on(from, own); },
                        [&](steal::loan const& own) { on(from, own, out); },
                        [&](steal::held const& own) { debts_.on(from, own, out); },
                        [&](steal::moves const& own) { debts_.on(from, own, out); },
                        [&](steal::inherits const& own) { debts_.on(from, own, out); },
                        [&](steal::heard const& own) { departure_.on(from, own); },
                        [&](steal::revoke const& own) {
                          if (auto const id = debts_.find(from, own.loan)) loans_.drop(*id, debts_, out);
                          departure_.on(from, own, out);
                        },
                        [&](steal::bequeaths const& own) {
                          loans_.on(from, own, debts_, out);
                          for (auto const r : thief_.lost_ranks()) loans_.lost(r, debts_, out);
                          place_parcels(out);
                        },
                        [&](steal::not_held const& own) {
                          loans_.on(from, own, debts_, out);
                          place_parcels(out);
                        },
                        [&](steal::better const& own) { bounds_.hear(own.bound, own.reach); },
                        [&](steal::progress const& /*own*/) {},  // for the engine
                        [&](auto const& own) { loans_.on(from, own, debts_, out); }},
             m);
  turn_to_work(out);
}

void steal_member::on(rank_id from, steal::ask const& m, steal_actions& out) {
  bounds_.hear(m.bound);
  if (!attendance_.active() || loans_.lend_parcel(from, thief_, bounds_.best(), out)) return;
  if (debts_.current())
    thieves_.add(from);
  else
    waiting_thieves::refuse(from, thief_.knows_busy(), out);
}

void steal_member::on(rank_id from, steal::loan const& m, steal_actions& out) {
  bounds_.hear(m.bound);
  if (!attendance_.active()) {
    out.push_back(steal::send{from, steal::not_held{{m.number}}});
    return;
  }
  thief_.succeeded(from);
  out.push_back(steal::accept{
      debts_.open({.lender = from, .number = m.number, .suspect = m.suspect, .alone = m.again})});
}

void steal_member::on(rank_id /*from*/, call_message const& m, steal_actions& out) {
  bool const was_draining = attendance_.draining();
  attendance_.on(m, out);
  if (auto const* const s = std::get_if<stop>(&m); s != nullptr && !was_draining) leave_work(s->early, out);
}

// --- losses, time

void steal_member::lost(rank_id rank, steal_actions& out) {
  if (attendance_.ended() || rank == config_.self || attendance_.lost(rank, out)) return;
  thief_.lost(rank);
  // The rank may be alive and must not wait forever for an answer.
  if (thieves_.remove(rank)) waiting_thieves::refuse(rank, std::nullopt, out);
  for (auto const id : debts_.owed_to(rank)) loans_.drop(id, debts_, out);
  departure_.lost(rank, out);
  loans_.lost(rank, debts_, out);
  place_parcels(out);
  turn_to_work(out);
}

void steal_member::place_parcels(steal_actions& out) {
  if (attendance_.active()) loans_.place_parcels(thieves_, thief_, bounds_.best(), debts_, out);
}

loan_book::pieces steal_member::cut(loan_id loan, std::uint64_t tasks, steal_actions& out) {
  auto const all = loans_.cut(loan, tasks, debts_);
  if (all.count == 0) return all;
  place_parcels(out);
  turn_to_work(out);
  return all;
}

void steal_member::tick(steal_actions& out) {
  if (attendance_.ended()) return;
  loans_.ask_held(out);
  if (!attendance_.active()) return;
  place_parcels(out);
  loans_.push_parcels(thief_, bounds_.best(), out);
  bounds_.tick(thief_.lost_ranks());
  turn_to_work(out);
  if (auto guilty = loans_.tick()) out.push_back(tell_root{std::move(*guilty)});
}

void steal_member::spread(steal_actions& out) {
  if (attendance_.active()) bounds_.spread(thief_.lost_ranks(), out);
}

// --- the end

void steal_member::retire(bool does, bool idle, steal_actions& out) {
  if (!attendance_.active()) return;
  if (does) {
    departure_.begin();
  } else if (departure_.leaves()) {
    departure_.call_off(loans_, out);
    turn_to_work(out);
  }
  if (!does || !idle) return;
  debts_.pause();
  nothing_to_spare(out);
  loans_.take_parcels(debts_, out);
  departure_.hand_over(loans_, debts_, out);
}

void steal_member::leave_work(bool returns, steal_actions& out) {
  departure_.call_off(loans_, out);
  loans_.leave(returns, debts_, out);
  debts_.leave(returns);
  thieves_.clear();
  thief_.forget();
}

void steal_member::failed(std::uint64_t number, std::string text, steal_actions& out) {
  if (attendance_.ended()) return;
  attendance_.failed(number, std::move(text), out);
  if (debts_.returns()) out.push_back(drain{});  // was draining to return its debts; they are now irrelevant
  leave_work(false, out);
}

void steal_member::quiet(steal_actions& out) {
  if (attendance_.awaited() && debts_.return_debts(out)) attendance_.quiet(out);
}

}  // namespace skel::role
