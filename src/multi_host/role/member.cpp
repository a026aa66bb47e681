#include "multi_host/role/member.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

namespace {
// Ticks after which a request is repeated: a host that has declared this rank dead drops its request.
constexpr unsigned request_patience = 4;
}  // namespace

std::uint64_t group_member::queued() const {
  std::uint64_t n = 0;
  for (auto const& p : queue_) n += p.pieces.count;
  return n + suspects_.size();
}

void group_member::begin(group_actions& out) {
  out.push_back(tell_root{hello{config_.call_hash, config_.threads, config_.power}});
}

// --- requests

bool group_member::may_ask() const {
  if (!host_ || asked_ || !attendance_.active()) return false;
  if (!suspects_.empty() || suspect_runs()) return false;
  auto const reach = pace_ > 0 ? std::min(reach_, pace_) : reach_;
  return queued() <= std::max<std::uint64_t>(1, reach);
}

void group_member::maybe_ask(group_actions& out) {
  if (may_ask()) ask(out);
}

void group_member::ask(group_actions& out) {
  asked_ = true;
  ticks_ = 0;
  out.push_back(group::send{*host_, group::request{term_, config_.threads, pace_}});
}

// --- work

void group_member::idle(std::uint64_t limit, bool quiet, group_actions& out) {
  if (!attendance_.active()) return;
  reach_ = limit > 1 ? limit * config_.threads : 0;
  if (limit > 0 && !suspect_runs()) {
    if (!queue_.empty())
      start(queue_, limit, out);
    else if (!suspects_.empty() && running_.empty() && quiet)
      start(suspects_, 1, out);
  }
  maybe_flush(out);
  maybe_ask(out);
}

void group_member::start(std::deque<part>& from, std::uint64_t limit, group_actions& out) {
  auto& front = from.front();
  part now = front;
  now.pieces.count = std::min(limit, front.pieces.count);
  front.pieces.first += now.pieces.count;
  front.pieces.count -= now.pieces.count;
  if (front.pieces.count == 0) from.pop_front();
  running_.push_back(now);
  if (now.suspect)
    out.push_back(group::send{now.host, group::begins{now.term, now.pieces.unit, now.pieces.first}});
  out.push_back(group::execute{now.id, now.pieces});
}

void group_member::finished(packet_id id, piece_run pieces, std::uint64_t bytes, group_actions& out) {
  if (!attendance_.active()) return;
  auto const at = std::find_if(running_.begin(), running_.end(),
                               [&](part const& p) { return p.id == id && p.pieces == pieces; });
  if (at == running_.end()) return;  // its term has ended
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
  if (now.suspect) flush(now.host, now.term, out);
  maybe_flush(out);
  maybe_ask(out);
}

// Returns all results for one host in one message, which also carries the next request.
void group_member::flush(rank_id host, term_id term, group_actions& out) {
  group::returned m{.term = term, .most = pace_};
  for (auto const& p : done_)
    if (p.term == term) m.runs.push_back(p.pieces);
  std::erase_if(done_, [&](part const& p) { return p.term == term; });
  if (term == term_ && may_ask()) {
    asked_ = true;
    ticks_ = 0;
    m.threads = config_.threads;
  }
  out.push_back(group::send{host, std::move(m)});
}

// Returns results at the level, or when this rank holds no further piece of their unit, so that the unit does
// not wait for the rank's next one.
void group_member::maybe_flush(group_actions& out) {
  bool const full = done_bytes_ >= config_.results_level;
  while (true) {
    auto const is_last_of_unit = [&](part const& done) {
      auto const same = [&](part const& p) {
        return p.term == done.term && p.pieces.unit == done.pieces.unit;
      };
      return std::none_of(queue_.begin(), queue_.end(), same) &&
             std::none_of(suspects_.begin(), suspects_.end(), same) &&
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

void group_member::on(rank_id /*from*/, group::serve const& m, group_actions& out) {
  if (!attendance_.active()) return;
  if (m.ended != 0) {
    auto const of_it = [&](part const& p) { return p.term == m.ended; };
    std::erase_if(queue_, of_it);
    std::erase_if(suspects_, of_it);
    std::erase_if(running_, of_it);
    std::erase_if(done_, of_it);
    out.push_back(group::forget{m.ended});
  }
  if (m.host != host_ || m.term != term_) {
    bool const withdraws = asked_ && host_ && m.ended != term_;
    if (withdraws) out.push_back(group::send{*host_, group::request{.term = term_, .threads = 0}});
    asked_ = false;
  }
  host_ = m.host;
  term_ = m.term;
  maybe_flush(out);
  maybe_ask(out);
}

void group_member::on(rank_id from, group::packet const& m, group_actions& out) {
  if (!attendance_.active()) return;
  if (m.term == term_) asked_ = false;
  ticks_ = 0;
  part const p{next_id_++, from, m.term, m.pieces, m.suspect};
  if (p.pieces.count == 0) return;
  (p.suspect ? suspects_ : queue_).push_back(p);
  out.push_back(group::accept{p.id, p.term, p.pieces});
  maybe_ask(out);
}

void group_member::tick(group_actions& out) {
  if (!attendance_.active() || !asked_ || !host_ || ++ticks_ < request_patience) return;
  ask(out);
}

// --- the end

void group_member::retire(bool does, group_actions& out) {
  if (!attendance_.active()) return;
  if (auto const number = leave_.make(does))
    out.push_back(group::send{config_.root, group::retires{*number}});
}

bool group_member::vacant() const {
  bool const works = asked_ || has_work() || !running_.empty() || !done_.empty();
  return attendance_.active() && leave_.granted() && !works;
}

void group_member::on(rank_id /*from*/, call_message const& m, group_actions& out) {
  attendance_.on(m, out);
  drop_if_draining();
}

void group_member::failed(std::uint64_t unit, std::string text, group_actions& out) {
  attendance_.failed(unit, std::move(text), out);
  drop_if_draining();
}

// The root replaces a lost host. The root itself lives on the root.
void group_member::lost(rank_id rank, group_actions& out) { attendance_.lost(rank, out); }

void group_member::drop_if_draining() {
  if (!attendance_.draining()) return;
  queue_.clear();
  suspects_.clear();
  running_.clear();
  done_.clear();
  asked_ = false;
}

}  // namespace skel::role
