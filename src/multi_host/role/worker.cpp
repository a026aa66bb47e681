#include "multi_host/role/worker.hpp"

#include <algorithm>
#include <utility>

#include "role/digest.hpp"

namespace skel::role {

using group_kind = peer_message_kind;
namespace act = group_act;

namespace {
// Ticks after which a request is said again: a host that took this rank for lost has forgotten it.
constexpr unsigned slave_patience = 4;
}  // namespace

std::uint64_t group_worker::queued() const {
  std::uint64_t n = 0;
  for (auto const& p : queue_) n += p.pieces.count;
  return n;
}

void group_worker::begin(group_actions& out) {
  peer_message hello{.kind = group_kind::hello, .number = config_.call_hash};
  if (config_.power > 0) hello.ids = {config_.power};
  tell_root(std::move(hello), out);
}

// --- requests

bool group_worker::may_ask() const {
  if (!host_ || asked_ || draining_ || ended_) return false;
  if (!config_.threshold) return queue_.empty() && running_.empty();
  auto const reach = pace_ > 0 ? std::min(reach_, pace_) : reach_;
  return queued() <= std::max(*config_.threshold, reach);
}

void group_worker::maybe_ask(group_actions& out) {
  if (!may_ask()) return;
  asked_ = true;
  ticks_ = 0;
  out.push_back(
      act::send{*host_, {.kind = group_kind::request, .number = term_, .ids = {config_.threads, pace_}}});
}

// --- work

void group_worker::idle(std::uint64_t limit, group_actions& out) {
  if (ended_ || draining_) return;
  reach_ = limit > 1 ? limit * config_.threads : 0;
  if (!queue_.empty() && limit > 0) {
    auto& front = queue_.front();
    part now = front;
    now.pieces.count = std::min(limit, front.pieces.count);
    front.pieces.first += now.pieces.count;
    front.pieces.count -= now.pieces.count;
    if (front.pieces.count == 0) queue_.pop_front();
    running_.push_back(now);
    out.push_back(act::execute{now.id, now.pieces});
  }
  maybe_flush(out);
  maybe_ask(out);
}

void group_worker::finished(packet_id id, piece_run pieces, std::uint64_t bytes, group_actions& out) {
  if (ended_ || draining_) return;
  auto const at = std::find_if(running_.begin(), running_.end(),
                               [&](part const& p) { return p.id == id && p.pieces == pieces; });
  if (at == running_.end()) return;  // void meanwhile
  part const now = *at;
  running_.erase(at);
  bool const joins = !done_.empty() && done_.back().term == now.term &&
                     done_.back().pieces.unit == pieces.unit &&
                     done_.back().pieces.first + done_.back().pieces.count == pieces.first;
  if (joins)
    done_.back().pieces.count += pieces.count;
  else
    done_.push_back(now);
  done_bytes_ += bytes;
  maybe_flush(out);
  maybe_ask(out);
}

// All that is done for one host travels in one message, and the next request rides on it.
void group_worker::flush(rank_id host, term_id term, group_actions& out) {
  peer_message m{.kind = group_kind::returned, .number = term, .ids = {0, pace_}};
  for (auto const& p : done_)
    if (p.term == term) m.ids.insert(m.ids.end(), {p.pieces.unit, p.pieces.first, p.pieces.count});
  std::erase_if(done_, [&](part const& p) { return p.term == term; });
  if (term == term_ && may_ask()) {
    asked_ = true;
    ticks_ = 0;
    m.ids[0] = config_.threads;
  }
  out.push_back(act::send{host, std::move(m)});
}

// At the level, or when nothing more of their unit is here: who waits for the unit should not wait for this
// rank's next one.
void group_worker::maybe_flush(group_actions& out) {
  bool const full = done_bytes_ >= config_.results_level;
  while (true) {
    auto const is_last_of_unit = [&](part const& done) {
      auto const same = [&](part const& p) {
        return p.term == done.term && p.pieces.unit == done.pieces.unit;
      };
      return std::none_of(queue_.begin(), queue_.end(), same) &&
             std::none_of(running_.begin(), running_.end(), same);
    };
    auto const next =
        std::find_if(done_.begin(), done_.end(), [&](part const& p) { return full || is_last_of_unit(p); });
    if (next == done_.end()) break;
    auto const [host, term] = std::pair{next->host, next->term};
    flush(host, term, out);
  }
  if (done_.empty()) done_bytes_ = 0;
}

// --- messages

void group_worker::on_serve(peer_message const& m, group_actions& out) {
  if (m.ids.size() < 2 || draining_) return;
  if (term_id const ended = m.ids[1]; ended != 0) {
    auto const of_it = [&](part const& p) { return p.term == ended; };
    std::erase_if(queue_, of_it);
    std::erase_if(running_, of_it);
    std::erase_if(done_, of_it);
    out.push_back(act::forget{ended});
  }
  auto const host = m.ids[0] == 0 ? std::nullopt : std::optional(static_cast<rank_id>(m.ids[0] - 1));
  if (host != host_ || m.number != term_) asked_ = false;
  host_ = host;
  term_ = m.number;
  maybe_flush(out);
  maybe_ask(out);
}

void group_worker::on_packet(rank_id from, peer_message const& m, group_actions& out) {
  if (m.ids.size() < 4 || draining_) return;
  if (m.number == term_) asked_ = false;
  ticks_ = 0;
  part const p{next_id_++, from, m.number, {m.ids[0], m.ids[1], m.ids[2]}};
  if (m.ids[3] != 0) out.push_back(act::send{from, {.kind = group_kind::got, .number = m.number}});
  if (p.pieces.count == 0) return;
  queue_.push_back(p);
  out.push_back(act::accept{p.id, p.term, p.pieces});
  maybe_ask(out);
}

void group_worker::on(rank_id from, peer_message const& m, group_actions& out) {
  if (ended_) return;
  switch (m.kind) {
    case group_kind::serve:
      on_serve(m, out);
      break;
    case group_kind::packet:
      on_packet(from, m, out);
      break;
    case group_kind::stop:
      stop_heard_ = true;
      start_draining(out);
      break;
    case group_kind::finish:
      ended_ = true;
      out.push_back(end{m.result.value_or(outcome{})});
      break;
    case group_kind::abort:
      ended_ = true;
      out.push_back(fail{fail::reason::protocol, m.text});
      break;
    default:
      break;  // for the host, or the root
  }
}

// Who takes a host's place is the arbiter's to say; without the root nobody says anything.
void group_worker::lost(rank_id rank, group_actions& out) {
  if (ended_ || rank != config_.root || rank == config_.self) return;
  ended_ = true;
  out.push_back(fail{fail::reason::lost_root, {}});
}

void group_worker::tick(group_actions& out) {
  if (ended_ || draining_ || !asked_ || !host_ || ++ticks_ < slave_patience) return;
  ticks_ = 0;
  out.push_back(
      act::send{*host_, {.kind = group_kind::request, .number = term_, .ids = {config_.threads, pace_}}});
}

// --- the end

void group_worker::start_draining(group_actions& out) {
  if (draining_) return;
  draining_ = true;
  queue_.clear();
  running_.clear();
  done_.clear();
  asked_ = false;
  out.push_back(act::drain{});
}

void group_worker::failed(std::uint64_t unit, std::string text, group_actions& out) {
  if (ended_) return;
  tell_root({.kind = group_kind::failed, .number = unit, .text = std::move(text)}, out);
  start_draining(out);
}

void group_worker::please_stop(group_actions& out) {
  if (!ended_ && !draining_) tell_root({.kind = group_kind::please_stop}, out);
}

void group_worker::quiet(group_actions& out) {
  if (!stop_heard_ || told_stopped_ || ended_) return;
  told_stopped_ = true;
  tell_root({.kind = group_kind::stopped}, out);
}

std::uint64_t group_worker::hash() const {
  digest d;
  auto const add = [&](auto const& parts) {
    for (auto const& p : parts)
      d.add(p.id).add(p.term).add(p.pieces.unit).add(p.pieces.first).add(p.pieces.count);
    d.add(parts.size());
  };
  add(queue_);
  add(running_);
  add(done_);
  d.add(static_cast<std::uint64_t>(host_.value_or(-1) + 1)).add(term_).add(asked_).add(next_id_).add(ticks_);
  d.add(done_bytes_).add(reach_).add(pace_).add(draining_).add(stop_heard_).add(told_stopped_).add(ended_);
  return d.value();
}

}  // namespace skel::role
