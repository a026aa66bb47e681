#include "multi_host/role/host.hpp"

#include <algorithm>
#include <utility>

#include "multi_host/role/groups.hpp"
#include "role/deal.hpp"
#include "role/digest.hpp"

namespace skel::role {

namespace act = group_act;

std::uint64_t group_host::pooled() const {
  std::uint64_t n = 0;
  for (auto const& [id, u] : units_) n += u.pooled;
  return n;
}

// --- units are read

void group_host::on(rank_id /*from*/, group_msg::lead const& m, group_actions& out) {
  if (stopped_ || m.term < term_) return;
  if (term_ == m.term) {  // the share has another end; what is read already is finished
    if (!active_ && m.end <= end_) return;
    if (!active_) fresh_ = true;  // it was done
    active_ = true;
    end_ = m.end;
    ranks_ = m.ranks;
    told_left_ = ~std::uint64_t{0};
    advance(out);
    return;
  }
  if (active_) close(out);
  active_ = true;
  term_ = m.term;
  next_ = m.first;
  end_ = m.end;
  ranks_ = m.ranks;
  fresh_ = true;
  holding_ = m.waits;
  loaded_ = false;
  told_left_ = (end_ - next_) * whole_unit;
  for (auto const& [term, r] : std::exchange(early_, {}))
    if (term == term_) {
      clients_[r.from] = r.threads;
      waiting_.push_back(r);
    }
  advance(out);
}

// This rank was taken for lost: another host has its place.
void group_host::on(rank_id /*from*/, group_msg::serve const& m, group_actions& out) {
  if (m.ended != 0 && in(m.ended)) close(out);
}

void group_host::on(rank_id /*from*/, group_msg::go const& m, group_actions& out) {
  if (!in(m.term)) return;
  holding_ = false;
  advance(out);
}

void group_host::close(group_actions& out) {
  active_ = false;
  reading_ = false;
  units_.clear();
  waiting_.clear();
  clients_.clear();
  under_way_.clear();
  out.push_back(act::close{});
}

void group_host::stop(group_actions& out) {
  stopped_ = true;
  if (active_) close(out);
}

void group_host::maybe_read(group_actions& out) {
  if (reading_ || next_ >= end_ || units_.size() > config_.read_ahead + 1) return;
  if (holding_ && loaded_) return;
  auto const untouched =
      std::count_if(units_.begin(), units_.end(), [](auto const& entry) { return entry.second.pooled > 0; });
  if (static_cast<std::uint64_t>(untouched) > config_.read_ahead) return;
  reading_ = true;
  out.push_back(act::read{term_, next_, std::exchange(fresh_, false)});
}

// The unit that is being read has so many pieces by now.
void group_host::extend(std::uint64_t unit, std::uint64_t pieces) {
  auto& u = units_[unit];
  if (pieces <= u.pieces.size()) return;
  auto const more = pieces - u.pieces.size();
  u.pieces.resize(pieces, in_pool);
  u.pooled += more;
  u.missing += more;
}

void group_host::readied(term_id term, std::uint64_t pieces, group_actions& out) {
  if (!active_ || term != term_ || !reading_) return;
  extend(next_, pieces);
  give(out);
}

void group_host::was_read(term_id term, std::uint64_t pieces, group_actions& out) {
  if (!active_ || term != term_ || !reading_) return;
  extend(next_, pieces);
  units_[next_].whole = true;
  reading_ = false;
  auto const unit = next_++;
  if (holding_ && !loaded_) out.push_back(act::send{config_.root, group_msg::loaded{term_}});
  loaded_ = true;
  maybe_deliver(unit, out);
  advance(out);
}

// --- pieces are given

piece_run group_host::take(std::uint64_t most, rank_id for_whom) {
  for (auto& [id, u] : units_) {
    if (u.pooled == 0) continue;
    while (u.pieces[u.next] != in_pool) ++u.next;
    piece_run run{id, u.next, 0};
    for (; u.next < u.pieces.size() && run.count < most && u.pieces[u.next] == in_pool; ++u.next, ++run.count)
      u.pieces[u.next] = for_whom;
    u.pooled -= run.count;
    return run;
  }
  return {};
}

std::uint64_t group_host::grant_for(request const& r) const {
  // What the host takes itself waits while it reads: as little as keeps its threads busy.
  if (r.from == config_.self) return r.threads;
  std::uint64_t threads = 0;
  for (auto const& [rank, n] : clients_) threads += n;
  auto const all = static_cast<int>(std::max(ranks_, threads));
  auto const n = next_grant(config_.policy, pooled(), 1, static_cast<int>(r.threads), all);
  return r.most > 0 ? std::min(n, std::max(r.most, config_.policy.chunk)) : n;
}

void group_host::give(group_actions& out) {
  if (holding_) return;
  unsigned sent = 0;
  for (auto const& [rank, n] : under_way_) sent += n;
  auto left = pooled();
  for (auto it = waiting_.begin(); it != waiting_.end() && left > 0;) {
    bool const own = it->from == config_.self;
    if (!own && config_.buffers > 0 && sent >= config_.buffers) {
      ++it;
      continue;
    }
    auto const run = take(std::max<std::uint64_t>(1, grant_for(*it)), it->from);
    left -= run.count;
    bool const limited = !own && config_.buffers > 0;
    if (limited) {
      ++sent;
      ++under_way_[it->from];
    }
    out.push_back(act::send{it->from, group_msg::packet{term_, run, limited}});
    it = waiting_.erase(it);
  }
}

void group_host::on(rank_id from, group_msg::request const& m, group_actions& out) {
  if (!stopped_) asks(m.term, {from, m.threads, m.most}, out);
}

void group_host::asks(term_id term, request r, group_actions& out) {
  r.threads = std::clamp<std::uint64_t>(r.threads, 1, 1U << 16);
  if (term > term_) {  // the worker heard of the term before its host
    std::erase_if(early_, [&](auto const& e) { return e.second.from == r.from; });
    early_.emplace_back(term, r);
    return;
  }
  if (!in(term)) return;
  clients_[r.from] = r.threads;
  if (std::none_of(waiting_.begin(), waiting_.end(), [&](request const& x) { return x.from == r.from; }))
    waiting_.push_back(r);
  advance(out);
}

void group_host::on(rank_id from, group_msg::got const& m, group_actions& out) {
  if (!in(m.term)) return;
  if (auto const at = under_way_.find(from); at != under_way_.end() && --at->second == 0)
    under_way_.erase(at);
  advance(out);
}

// What is not given out, in thousandths of units.
std::uint64_t group_host::left() const {
  std::uint64_t left = next_ < end_ ? (end_ - next_) * whole_unit : 0;
  for (auto const& [id, u] : units_)
    if (u.whole && u.pooled > 0) left += std::max<std::uint64_t>(1, u.pooled * whole_unit / u.pieces.size());
  return left;
}

// Said when it matters to the arbiter: another step, nothing, or more again.
void group_host::tell_left(group_actions& out) {
  auto const now = left();
  bool const matters = now > told_left_ || (now == 0) != (told_left_ == 0) ||
                       (now <= config_.left_alone) != (told_left_ <= config_.left_alone) ||
                       now + unit_step <= told_left_;
  if (!matters && told_left_ != ~std::uint64_t{0}) return;
  told_left_ = now;
  out.push_back(act::send{config_.root, group_msg::left{term_, now}});
}

// The host keeps what it has begun to read. It always answers: ranks wait for that.
void group_host::on(rank_id /*from*/, group_msg::split const& m, group_actions& out) {
  if (!in(m.term)) return;
  auto const first = next_ + (reading_ ? 1 : 0);
  end_ -= units_to_let_go({.left = static_cast<double>(left()) / whole_unit,
                           .untouched = end_ > first ? end_ - first : 0,
                           .own_power = m.staying,
                           .ranks = m.ranks,
                           .power = m.power});
  told_left_ = left();
  out.push_back(act::send{config_.root, group_msg::let_go{term_, end_, told_left_}});
  advance(out);
}

void group_host::advance(group_actions& out) {
  if (!active_) return;
  give(out);
  maybe_read(out);
  tell_left(out);
  if (next_ >= end_ && !reading_ && units_.empty()) close(out);
}

// --- losses

void group_host::put_back(open_unit& u, std::uint64_t piece) {
  u.pieces[piece] = in_pool;
  u.next = std::min(u.next, piece);
  ++u.pooled;
  ++taken_back_;
}

void group_host::lost(rank_id rank, group_actions& out) {
  if (!active_ || rank == config_.self) return;
  std::erase_if(waiting_, [&](request const& r) { return r.from == rank; });
  clients_.erase(rank);
  under_way_.erase(rank);
  for (auto& [id, u] : units_)
    for (std::uint64_t p = 0; p < u.pieces.size(); ++p)
      if (u.pieces[p] == rank) put_back(u, p);
  advance(out);
}

std::uint64_t group_host::hash() const {
  digest d;
  d.add(active_).add(stopped_).add(term_).add(next_).add(end_).add(fresh_).add(reading_).add(holding_).add(
      loaded_);
  for (auto const& [id, u] : units_) {
    d.add(id).add((u.whole ? 1U : 0U) + (u.leaving ? 2U : 0U));
    for (auto const p : u.pieces) d.add(static_cast<std::uint64_t>(p + 2));
  }
  for (auto const& r : waiting_) d.add(static_cast<std::uint64_t>(r.from));
  for (auto const& [term, r] : early_) d.add(term).add(static_cast<std::uint64_t>(r.from));
  for (auto const& [rank, n] : clients_) d.add(static_cast<std::uint64_t>(rank)).add(n);
  for (auto const& [rank, n] : under_way_) d.add(static_cast<std::uint64_t>(rank)).add(n);
  return d.add(units_.size()).add(waiting_.size()).add(told_left_).value();
}

}  // namespace skel::role
