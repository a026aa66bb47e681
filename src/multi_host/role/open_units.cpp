#include "multi_host/role/open_units.hpp"

#include <algorithm>
#include <utility>

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

}  // namespace skel::role
