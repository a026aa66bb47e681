#include "roll_call.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/overloaded.hpp"

namespace skel::role {

namespace {
// Ticks after which `stop` is repeated. The MPI transport loses no message, but another may.
constexpr unsigned stop_patience = 8;
using status = outcome::status;
}  // namespace

std::string text_of(blamed const& b) {
  std::string names;
  for (rank_id const r : b.ranks) {
    names += names.empty() ? "" : ", ";
    names += r < 0 ? std::to_string(-1 - r) + " (root of an earlier attempt)" : std::to_string(r);
  }
  return (b.text.empty() ? "it" : b.text) + " was running on each of the lost ranks " + names;
}

void roll_call::tell_all(call_message const& m, call_messages& out) const {
  // Includes suspected ranks: a living one gets the message when it is heard from again.
  for (rank_id r = 0; r < peers_.ranks(); ++r) out.push_back({r, m});
}

void roll_call::close(outcome how, call_messages& out) {
  if (finished_) return;
  if (early() && how.how == status::done) outcome_.tasks = how.tasks;
  // An exception of a task or the sink is reported even if the run is stopped early.
  bool const threw = how.how == status::task_failed || how.how == status::sink_failed;
  if (stopping_) {
    if (early() && threw) outcome_ = std::move(how);
    return;
  }
  stopping_ = true;
  outcome_ = std::move(how);
  tell_all(role::stop{early()}, out);
}

void roll_call::on(rank_id from, call_message const& m, call_messages& out) {
  if (finished_ || !peers_.has(from)) return;
  peers_[from].alive = true;
  std::visit(overloaded{
                 [&](hello const& h) {
                   if (h.call_hash != call_hash_)
                     abort("rank " + std::to_string(from) +
                               " made another skeleton call than the root (another skeleton, other options "
                               "or other types)",
                           out);
                 },
                 [&](failed const& f) {
                   bool const again = stopping_ && outcome_.how == status::task_failed;
                   if (again && outcome_.task != f.task) ++outcome_.more;  // else said again, or a copy
                   close({.how = status::task_failed, .task = f.task, .rank = from, .text = f.text}, out);
                 },
                 [&](please_stop const&) { close({.how = status::stopped_early}, out); },
                 [&](part_lost const& l) { close({.how = status::part_lost, .rank = l.rank}, out); },
                 [&](blamed const& b) {
                   auto const last = b.ranks.empty() ? 0 : b.ranks.back();
                   close({.how = status::task_failed,
                          .task = b.task,
                          .rank = last,
                          .more = b.more,
                          .text = text_of(b)},
                         out);
                 },
                 [&](stopped const&) {
                   peers_[from].stopped = true;
                   maybe_finish(out);
                 },
                 [](auto const& /*of the root*/) {},
             },
             m);
}

void roll_call::lost(rank_id rank, call_messages& out) {
  if (peers_.has(rank)) peers_[rank].alive = false;
  maybe_finish(out);
}

void roll_call::heard(rank_id rank) {
  if (peers_.has(rank)) peers_[rank].alive = true;
}

void roll_call::tick(call_messages& out) {
  if (!stopping_ || finished_ || ++stop_ticks_ % stop_patience != 0) return;
  for (rank_id const r : not_stopped()) say_again(r, out);
}

void roll_call::say_again(rank_id rank, call_messages& out) const {
  if (aborted_)
    out.push_back({rank, role::abort{*aborted_}});
  else if (finished_)
    out.push_back({rank, finish{outcome_}});
  else if (stopping_)
    out.push_back({rank, role::stop{early()}});
}

void roll_call::count(std::uint64_t tasks, std::uint64_t handed_out_again) {
  if (finished_) return;
  outcome_.tasks = tasks;
  outcome_.handed_out_again = handed_out_again;
}

void roll_call::maybe_finish(call_messages& out) {
  if (!stopping_ || finished_ || std::any_of(peers_.begin(), peers_.end(), std::mem_fn(&peer::runs))) return;
  finished_ = true;
  tell_all(finish{outcome_}, out);
}

void roll_call::abort(std::string text, call_messages& out) {
  if (finished_) return;
  finished_ = true;
  aborted_ = std::move(text);
  tell_all(role::abort{*aborted_}, out);
}

std::vector<rank_id> roll_call::lost_ranks() const {
  std::vector<rank_id> all;
  for (rank_id r = 0; r < peers_.ranks(); ++r)
    if (!peers_[r].alive) all.push_back(r);
  return all;
}

std::vector<rank_id> roll_call::not_stopped() const {
  std::vector<rank_id> all;
  for (rank_id r = 0; r < peers_.ranks(); ++r)
    if (peers_[r].runs()) all.push_back(r);
  return all;
}

}  // namespace skel::role
