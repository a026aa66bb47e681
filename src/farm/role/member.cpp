#include "farm/role/member.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

farm_member::farm_member(farm_member_config const& config)
    : root_(config.root),
      attendance_(config.self, config.root),
      reports_(config),
      copies_(config.ring.copies) {
  held_.add(config.share);
  if (config.on_ring())
    ring_.emplace(config.self, static_cast<std::uint64_t>(config.threads), config.power, config.ring);
}

void farm_member::begin(farm_actions& out) {
  reports_.hello(out);
  if (takes()) reports_.maybe_ask(held_, out);
  maybe_steal(out);
}

// --- compute threads

void farm_member::idle(std::uint64_t limit, farm_actions& out) {
  if (ended()) return;
  reports_.takes(limit);
  hand_out(limit, out);
  go_on(out);
}

void farm_member::finished(task_range const& range, std::uint64_t next_limit, farm_actions& out) {
  if (ended()) return;  // a rank may learn of the end while it runs a task alone
  held_.end_run(range);
  reports_.ended(range);
  if (attendance_.draining()) {
    maybe_stopped(out);
    return;
  }
  if (dismissed_) return;
  bool const awaited = held_.finish(range);
  if (next_limit > 0) {
    reports_.takes(next_limit);
    hand_out(next_limit, out);
  }
  if (awaited || reports_.retires()) reports_.flush(held_, out);
  go_on(out);
  tell_vacant(out);
}

void farm_member::failed(task_id id, std::string text, task_range const& dropped, farm_actions& out) {
  if (ended()) return;
  held_.end_run({id, 1, 1});
  if (!dropped.empty()) held_.end_run(dropped);
  if (dismissed_) {
    if (attendance_.draining()) maybe_stopped(out);
    return;
  }
  attendance_.failed(id, std::move(text), out);
  held_.clear();
  maybe_stopped(out);
}

void farm_member::threw(task_id id, std::string text, farm_actions& out) {
  if (!gives_back(id, out)) return;
  reports_.failed(farm::task_failed{.task = id, .text = std::move(text)}, out);
  go_on(out);
  tell_vacant(out);
}

void farm_member::refused(farm::refused what, farm_actions& out) {
  if (!gives_back(what.task, out)) return;
  reports_.failed(std::move(what), out);
  go_on(out);
  tell_vacant(out);
}

// Whether the root is to hear of a task that has ended without a result.
bool farm_member::gives_back(task_id id, farm_actions& out) {
  if (ended()) return false;
  held_.fail(id);
  reports_.ended({id, 1, 1});
  if (attendance_.draining()) maybe_stopped(out);
  return works();
}

void farm_member::put_aside(task_id id, farm_actions& out) {
  if (!takes()) {
    if (gives_back(id, out)) tell_vacant(out);
    return;
  }
  held_.put_aside(id);
  reports_.untold().not_begun(id);
}

void farm_member::hand_out(std::uint64_t limit, farm_actions& out) {
  if (!takes() || limit == 0) return;
  auto const range = held_.start(limit);
  if (!range) return;
  reports_.untold().begun(*range);
  out.push_back(farm::execute{*range});
}

void farm_member::go_on(farm_actions& out) {
  maybe_flush(out);
  reports_.tell_begun(held_, out);
  if (takes()) reports_.maybe_ask(held_, out);
  maybe_steal(out);
}

void farm_member::maybe_steal(farm_actions& out) {
  if (!ring_ || !reports_.closed() || !takes() || held_.has_work()) return;
  if (ring_->directed()) {
    if (!reports_.asked() && ring_->wants_to_be_told(held_, reports_.reach())) reports_.ask(held_, out);
    return;
  }
  if (!ring_->seek(held_, reports_.reach(), out)) return;
  if (ring_->resting())
    maybe_flush(out);
  else
    reports_.heard();
}

void farm_member::retire(bool does, farm_actions& out) {
  if (!works() || reports_.retires() == does) return;
  held_.drop_waiting();
  reports_.retire(does);
  if (held_.done() > 0) reports_.flush(held_, out);
  reports_.tell_retired(vacant(), out);
}

// --- messages

void farm_member::on(rank_id from, farm_message const& m, farm_actions& out) {
  if (ended()) return;
  heard_ = heard_ || from == root_;
  if (ring_) ring_->heard(from);
  // Stock-taking is not an answer to this rank's request, for which it goes on waiting.
  if (!std::holds_alternative<farm::take_stock>(m)) reports_.heard();
  std::visit([&](auto const& what) { answer(from, what, out); }, m);
}

void farm_member::answer(rank_id /*from*/, farm::grant const& m, farm_actions& out) {
  if (m.may_be_held) reports_.untold().tell_always();
  reports_.answered();
  if (!takes()) return;
  held_.add(m.ranges, m.may_be_held);
  if (ring_) ring_->granted(m, held_, out);
}

// Not an answer to this rank's request, so it keeps waiting for one.
void farm_member::answer(rank_id /*from*/, farm::grant_alone const& m, farm_actions& /*out*/) {
  if (m.watched) reports_.untold().tell_always();
  if (!takes()) return;
  for (auto const& fresh : held_.not_held({&m.task, 1})) held_.add_alone(fresh);
}

// If the root names the victims, a second `nothing` means that there is no victim either.
void farm_member::answer(rank_id /*from*/, farm::nothing const& /*m*/, farm_actions& out) {
  reports_.answered();
  if (reports_.closed() && ring_ && ring_->directed()) ring_->rest();
  reports_.close();
  maybe_flush(out);
  maybe_steal(out);
}

void farm_member::answer(rank_id /*from*/, farm::dismissed const& /*m*/, farm_actions& /*out*/) {
  dismissed_ = true;
  reports_.answered();
  reports_.untold().clear();
  held_.clear();
}

void farm_member::answer(rank_id /*from*/, farm::pause const& m, farm_actions& out) { retire(m.on, out); }

void farm_member::answer(rank_id /*from*/, farm::spacing const& m, farm_actions& /*out*/) {
  reports_.space(m);
}

void farm_member::answer(rank_id /*from*/, farm::take_stock const& m, farm_actions& out) {
  reports_.tell_stock(m, held_, out);
}

void farm_member::answer(rank_id /*from*/, call_message const& m, farm_actions& out) {
  attendance_.on(m, out);
  if (!attendance_.draining()) return;
  held_.clear();
  maybe_stopped(out);
}

template <class Message>
void farm_member::answer(rank_id from, Message const& m, farm_actions& out) {
  if constexpr (requires { ring_->on(from, m, takes(), held_, reports_, out); }) {
    if (ring_ && ring_->on(from, m, takes(), held_, reports_, out)) maybe_steal(out);
  }
}

void farm_member::lost(rank_id rank, farm_actions& out) {
  if (ended() || attendance_.lost(rank, out)) return;
  if (ring_ && ring_->lost(rank)) maybe_steal(out);
}

void farm_member::tick(farm_actions& out) {
  if (ended()) return;
  if (!reports_.tick(held_, out)) return;
  // An idle rank says hello from time to time, so that the root drops a false suspicion or repeats a lost
  // end.
  bool const silent = held_.dry() && !reports_.asked() && !attendance_.told_stopped();
  if (!heard_ || silent) reports_.hello(out);
  reports_.ask_again(held_, out);
  if (reports_.retires()) reports_.tell_retired(vacant(), out);
  attendance_.say_again(out);
  if (ring_ && !ring_->repeat(out)) maybe_steal(out);
}

// --- the end

void farm_member::maybe_stopped(farm_actions& out) {
  // With copies, tasks that still run at the end have been recorded from other ranks.
  if (!held_.running().empty() && !copies_) return;
  if (attendance_.quiet(out)) reports_.heard();
}

}  // namespace skel::role
