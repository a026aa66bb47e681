#include "multi_host/role/host.hpp"

#include <algorithm>
#include <utility>

#include "multi_host/role/groups.hpp"
#include "protocol/deal.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

std::uint64_t open_units::pooled() const {
  std::uint64_t n = 0;
  for (auto const& [id, u] : units_) n += u.pooled;
  return n;
}

std::uint64_t open_units::waiting() const {
  return static_cast<std::uint64_t>(
      std::count_if(units_.begin(), units_.end(), [](auto const& entry) { return entry.second.pooled > 0; }));
}

std::uint64_t open_units::left() const {
  std::uint64_t left = 0;
  for (auto const& [id, u] : units_)
    if (auto const n = u.pooled + u.suspected; u.whole && n > 0)
      left += std::max<std::uint64_t>(1, n * whole_unit / u.pieces.size());
  return left;
}

bool open_units::holds_any(rank_id rank) const {
  return std::any_of(units_.begin(), units_.end(), [&](auto const& entry) {
    auto const& pieces = entry.second.pieces;
    return std::find(pieces.begin(), pieces.end(), rank) != pieces.end();
  });
}

void open_units::extend(std::uint64_t unit, std::uint64_t pieces) {
  auto& u = units_[unit];
  if (pieces <= u.pieces.size()) return;
  auto const more = pieces - u.pieces.size();
  u.pieces.resize(pieces, in_pool);
  u.pooled += more;
  u.missing += more;
}

void open_units::clear() {
  units_.clear();
  suspects_ = suspects<piece_name>(most_losses_);
  begun_.clear();
}

// --- handing out

piece_run open_units::take(std::uint64_t most, rank_id for_rank) {
  for (auto& [id, u] : units_) {
    if (u.pooled == 0) continue;
    while (u.pieces[u.next] != in_pool) ++u.next;
    piece_run run{id, u.next, 0};
    for (; u.next < u.pieces.size() && run.count < most && u.pieces[u.next] == in_pool; ++u.next, ++run.count)
      u.pieces[u.next] = for_rank;
    u.pooled -= run.count;
    return run;
  }
  return {};
}

piece_run open_units::take_suspect(rank_id for_rank) {
  auto const next = suspects_.next();
  if (!next) return {};
  auto& u = units_.at(next->unit);
  suspects_.given(*next, for_rank);
  u.pieces[next->piece] = for_rank;
  --u.suspected;
  return {next->unit, next->piece, 1};
}

void open_units::begun(rank_id rank, piece_name piece) {
  if (!has({piece.unit, piece.piece, 1}) || !suspects_.contains(piece)) return;
  if (units_.at(piece.unit).pieces[piece.piece] == rank) begun_.insert(piece);
}

// --- results

bool open_units::has(piece_run const& run) const {
  auto const n = units_.at(run.unit).pieces.size();
  return run.first <= n && run.count <= n - run.first;
}

void open_units::has_result(open_unit& u, piece_name piece) {
  auto& holder = u.pieces[piece.piece];
  if (holder == in_pool) --u.pooled;
  if (holder == suspected) --u.suspected;
  holder = recorded;
  --u.missing;
  if (suspects_.empty()) return;
  suspects_.acquit(piece);
  begun_.erase(piece);
}

bool open_units::completed(std::uint64_t unit) {
  auto& u = units_.at(unit);
  if (!u.whole || u.missing > 0) return false;
  return !std::exchange(u.leaving, true);
}

// --- losses

void open_units::take_back(open_unit& u, piece_name piece, rank_id from) {
  if (most_losses_ == 0) {
    u.pieces[piece.piece] = in_pool;
    u.next = std::min(u.next, piece.piece);
    ++u.pooled;
    return;
  }
  u.pieces[piece.piece] = suspected;
  ++u.suspected;
  bool const begun = begun_.erase(piece) > 0;
  if (begun || !suspects_.contains(piece))
    suspects_.add(piece, from, begun);
  else
    suspects_.take_back(from);  // the rank had not started it
}

void open_units::lost(rank_id rank) {
  suspects_.lost(rank);
  for (auto& [id, u] : units_)
    for (std::uint64_t p = 0; p < u.pieces.size(); ++p)
      if (u.pieces[p] == rank) {
        take_back(u, {id, p}, rank);
        ++taken_back_;
      }
}

std::optional<suspects<piece_name>::verdict> open_units::tick() {
  suspects_.end_losses();
  return suspects_.tick();
}

// --- requests

void piece_dealer::begin(term_id term, bool holds) {
  holds_ = holds;
  last_resort_ = false;
  for (auto const& [of, r] : std::exchange(early_, {}))
    if (of == term) {
      clients_[r.from] = r.threads;
      waiting_.push_back(r);
    }
}

void piece_dealer::add(request const& r) {
  clients_[r.from] = r.threads;
  if (std::none_of(waiting_.begin(), waiting_.end(), [&](request const& x) { return x.from == r.from; }))
    waiting_.push_back(r);
}

void piece_dealer::add_early(term_id term, request const& r) {
  std::erase_if(early_, [&](auto const& e) { return e.second.from == r.from; });
  early_.emplace_back(term, r);
}

void piece_dealer::withdraw_early(term_id term, rank_id from) {
  std::erase_if(early_, [&](auto const& e) { return e.first == term && e.second.from == from; });
}

void piece_dealer::lost(rank_id rank) {
  withdraw(rank);
  clients_.erase(rank);
}

void piece_dealer::clear() {
  waiting_.clear();
  clients_.clear();
}

// --- handing out

std::uint64_t piece_dealer::grant_for(request const& r, std::uint64_t pooled) const {
  // Pieces for the host itself wait while it reads, so it takes just enough to keep its threads busy.
  if (r.from == self_) return r.threads;
  std::uint64_t threads = 0;
  for (auto const& [rank, n] : clients_) threads += n;
  auto const all = static_cast<int>(std::max(ranks_, threads));
  static farm_policy const shrinking = schedule::guided{}.policy();
  auto const n = next_grant(shrinking, pooled, 1, static_cast<int>(r.threads), all);
  return r.most > 0 ? std::min(n, r.most) : n;
}

// A rank with a suspect gets nothing else. The root gets no pieces of units that were open on lost hosts.
void piece_dealer::give(term_id term, open_units& units, group_actions& out) {
  if (holds_) return;
  auto left = units.pooled();
  for (auto it = waiting_.begin(); it != waiting_.end() && left > 0;) {
    auto const to = it->from;
    if ((alone_ && to == root_ && to != self_) || units.holds_suspect(to)) {
      ++it;
      continue;
    }
    auto const run = units.take(std::max<std::uint64_t>(1, grant_for(*it, left)), to);
    left -= run.count;
    out.push_back(group::send{to, group::packet{term, run}});
    it = waiting_.erase(it);
  }
  if (!units.has_suspects()) return;
  give_suspects(term, false, units, out);
  if (last_resort_) give_suspects(term, true, units, out);
}

// Hands suspects to this rank itself, or to other ranks except the root.
void piece_dealer::give_suspects(term_id term, bool to_itself, open_units& units, group_actions& out) {
  for (auto it = waiting_.begin(); it != waiting_.end() && units.suspect_waits();) {
    bool const may = (it->from == self_) == to_itself && (to_itself || it->from != root_);
    if (!may || units.holds_any(it->from)) {
      ++it;
      continue;
    }
    out.push_back(group::send{it->from, group::packet{term, units.take_suspect(it->from), true}});
    it = waiting_.erase(it);
  }
}

// --- the share

void group_host::on(rank_id /*from*/, group::lead const& m, group_actions& out) {
  if (stopped_ || m.term < term_) return;
  if (term_ != m.term) {
    begin_term(m, out);
  } else {  // the end of the share moves; units already read are finished
    if (!active_ && m.units.end <= end_) return;
    if (!active_) fresh_ = true;  // the share was complete
    if (m.units.first > next_ && units_.empty() && !reading_) {
      out.push_back(group::close{});  // the root has the results of the units in between
      next_ = m.units.first;
      fresh_ = true;
    }
    told_.stale = true;
  }
  active_ = true;
  end_ = m.units.end;
  alone_ = m.units.alone;
  more_ = m.units.more;
  dealer_.set_group(m.ranks, alone_);
  advance(out);
}

void group_host::begin_term(group::lead const& m, group_actions& out) {
  if (active_) close(out);
  term_ = m.term;
  next_ = m.units.first;
  fresh_ = true;
  loaded_ = false;
  told_ = {(m.units.end - m.units.first) * whole_unit};
  dealer_.begin(term_, m.waits);
}

// The root had declared this rank dead and appointed another host.
void group_host::on(rank_id /*from*/, group::serve const& m, group_actions& out) {
  if (m.ended != 0 && in(m.ended)) close(out);
}

void group_host::on(rank_id /*from*/, group::go const& m, group_actions& out) {
  if (!in(m.term)) return;
  dealer_.go();
  advance(out);
}

// The host keeps units that it has started to read. It always answers, because ranks wait for the answer.
void group_host::on(rank_id /*from*/, group::split const& m, group_actions& out) {
  if (!in(m.term)) return;
  auto const first = next_ + (reading_ ? 1 : 0);
  end_ -= units_to_let_go({.left = static_cast<double>(left()) / whole_unit,
                           .untouched = end_ > first ? end_ - first : 0,
                           .own_power = m.staying,
                           .ranks = m.ranks,
                           .power = m.power});
  told_.left = left();
  out.push_back(group::send{config_.root, group::let_go{term_, end_, told_.left}});
  advance(out);
}

void group_host::close(group_actions& out) {
  active_ = false;
  reading_ = false;
  units_.clear();
  dealer_.clear();
  out.push_back(group::close{});
}

void group_host::stop(group_actions& out) {
  stopped_ = true;
  if (active_) close(out);
}

void group_host::advance(group_actions& out) {
  if (!active_) return;
  dealer_.give(term_, units_, out);
  maybe_read(out);
  tell_left(out);
  if (next_ >= end_ && !more_ && !reading_ && units_.empty()) close(out);
}

// Work not handed out yet, in thousandths of units.
std::uint64_t group_host::left() const {
  return (next_ < end_ ? (end_ - next_) * whole_unit : 0) + units_.left();
}

// Reports only changes that matter to the root: a further step, nothing left, or more than before.
void group_host::tell_left(group_actions& out) {
  report const now{left(), units_.suspect_waits()};
  bool const matters = now.left > told_.left || (now.left == 0) != (told_.left == 0) ||
                       (now.left <= config_.left_alone) != (told_.left <= config_.left_alone) ||
                       now.left + unit_step <= told_.left || now.suspects != told_.suspects;
  if (!matters && !told_.stale) return;
  told_ = now;
  out.push_back(group::send{config_.root, group::left{term_, now.left, now.suspects}});
}

// --- reading units

void group_host::maybe_read(group_actions& out) {
  if (reading_ || next_ >= end_ || units_.size() > config_.read_ahead + 1) return;
  if ((dealer_.holds() && loaded_) || units_.waiting() > config_.read_ahead) return;
  reading_ = true;
  out.push_back(group::read{term_, next_, std::exchange(fresh_, false), alone_});
}

void group_host::opens(term_id term, std::uint64_t unit, group_actions& out) const {
  if (in(term)) out.push_back(group::send{config_.root, group::opens{term_, unit}});
}

void group_host::readied(term_id term, std::uint64_t pieces, group_actions& out) {
  if (!in(term) || !reading_) return;
  units_.extend(next_, pieces);
  dealer_.give(term_, units_, out);
}

void group_host::was_read(term_id term, std::uint64_t pieces, group_actions& out) {
  if (!in(term) || !reading_) return;
  units_.extend(next_, pieces);
  units_.set_whole(next_);
  reading_ = false;
  auto const unit = next_++;
  if (dealer_.holds() && !loaded_) out.push_back(group::send{config_.root, group::loaded{term_}});
  loaded_ = true;
  if (units_.completed(unit)) out.push_back(group::deliver{term_, unit});
  advance(out);
}

// --- handing out pieces

void group_host::on(rank_id from, group::request const& m, group_actions& out) {
  if (stopped_) return;
  if (m.threads > 0) return asks(m.term, {from, m.threads, m.most}, out);
  if (in(m.term)) dealer_.withdraw(from);
  dealer_.withdraw_early(m.term, from);
}

void group_host::asks(term_id term, piece_dealer::request r, group_actions& out) {
  r.threads = std::clamp<std::uint64_t>(r.threads, 1, 1U << 16);
  if (term > term_) return dealer_.add_early(term, r);  // the member learned the term before its host did
  if (!in(term)) return;
  dealer_.add(r);
  advance(out);
}

// --- results

void group_host::on(rank_id from, group::returned const& m, group_actions& out) {
  if (!in(m.term)) return;
  for (auto const& run : m.runs) {
    if (!units_.contains(run.unit)) continue;  // other ranks have returned all of its results
    if (!units_.has(run)) {
      out.push_back(
          fail{fail::reason::protocol, "rank " + std::to_string(from) + " names pieces that do not exist"});
      return;
    }
    units_.record(run, [&](piece_run const& fresh) { out.push_back(group::keep{fresh}); });
    if (units_.completed(run.unit)) out.push_back(group::deliver{term_, run.unit});
  }
  if (m.threads > 0)
    asks(term_, {from, m.threads, m.most}, out);
  else
    advance(out);
}

void group_host::delivered(term_id term, std::uint64_t unit, group_actions& out) {
  if (!in(term) || !units_.erase(unit)) return;
  out.push_back(group::send{config_.root, group::unit_done{term_, unit}});
  advance(out);
}

// --- losses

void group_host::lost(rank_id rank, group_actions& out) {
  if (!active_ || rank == config_.self) return;
  dealer_.lost(rank);
  units_.lost(rank);
  advance(out);
}

void group_host::on(rank_id from, group::begins const& m, group_actions& /*out*/) {
  if (in(m.term) && units_.contains(m.unit)) units_.begun(from, {m.unit, m.piece});
}

void group_host::on(rank_id /*from*/, group::last_resort const& m, group_actions& out) {
  if (!in(m.term)) return;
  dealer_.set_last_resort(m.allowed);
  advance(out);
}

void group_host::tick(group_actions& out) {
  if (!active_) return;
  if (auto verdict = units_.tick())
    out.push_back(tell_root{blamed{
        verdict->work.unit, std::move(verdict->ranks), verdict->more,
        "piece " + std::to_string(verdict->work.piece) + " of unit " + std::to_string(verdict->work.unit)}});
  if (units_.has_suspects()) advance(out);  // a rank may have been heard from again
}

}  // namespace skel::role
