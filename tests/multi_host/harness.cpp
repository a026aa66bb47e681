#include "harness.hpp"

#include <algorithm>
namespace group_harness {
using kind = event::kind;

std::uint64_t scenario::pieces(std::uint64_t unit) const {
  return most_pieces == 0 ? 0 : (unit * 5 + seed) % (most_pieces + 1);
}

world::world(scenario const& s, fault* f) : peer_world(s, f) {
  role::group_root_config book{.ranks = s.ranks,
                               .units = s.units,
                               .group_size = s.group_size,
                               .measures = {s.reassigns, s.splits, s.hosts_help, s.preloads},
                               .left_alone = s.left_alone,
                               .read_ahead = s.read_ahead,
                               .most_losses = s.most_losses};
  for (int r = 0; r < s.ranks; ++r) {
    if (s.uneven) book.power.push_back(1 + r % 3);
    at(r).member = role::group_member({r, 0, call_hash(r), s.threads, 0, s.results_level});
    at(r).host = role::group_host({r, 0, s.read_ahead, s.left_alone, s.most_losses});
  }
  root_role_ = role::group_root(book);
}

// --- events

void world::apply_own(event const& e) {
  role::group_actions list;
  if (e.what == kind::retire) {
    retire(e.a);
  } else if (e.what == kind::leave) {
    ++left_;
    leave(e.a);
  } else if (e.what == kind::finish) {
    finish(e.a, e.b);
  } else if (e.what == kind::ready) {
    auto& n = at(e.a);
    auto& j = n.running.at(static_cast<std::size_t>(e.b));
    ++j.ready;
    if (n.host.active() && n.host.term() == j.term) n.units[j.pieces.unit] = j.ready;
    n.host.readied(j.term, j.ready, list);
    perform(e.a, list);
  } else {  // measure
    if (!roll_.stopping()) root_role_.measured(static_cast<unsigned>(e.n), list);
    perform(0, list);
  }
}

void world::begin(int rank) {
  role::group_actions list;
  at(rank).member.begin(list);
  perform(rank, list);
  if (rank != 0) return;
  root_role_.begin(list);
  perform(0, list);
}

void world::receive(int from, int to, packet& p) {
  auto& n = at(to);
  role::group_actions list;
  if (auto const* const call = std::get_if<role::call_message>(&p.what); call != nullptr && to == 0)
    call_roll(&role::roll_call::on, from, *call);
  if (auto const* const l = std::get_if<role::group::lead>(&p.what)) n.share_end = l->units.end;
  auto const* const pieces = std::get_if<role::group::packet>(&p.what);
  n.suspect_arrives = pieces != nullptr && pieces->suspect;
  role::route(from, p.what, to == 0 && !roll_.stopping() ? &root_role_ : nullptr, n.host, n.member, list);
  perform(to, list, p.cargo);
}

void world::finish(int rank, int which) {
  auto& n = at(rank);
  auto const j = n.running.at(static_cast<std::size_t>(which));
  n.running.erase(n.running.begin() + which);
  role::group_actions list;
  if (is_deadly(j)) {
    if (rank != 0) {
      kill(rank);
      return;
    }
    root_met_it_ = true;
    bool const others = std::any_of(nodes_.begin() + 1, nodes_.end(), [](node const& x) { return x.alive; });
    bool const suspect = j.alone || n.suspects.contains(j.id);
    require(!suspect || !others || suspicions_ > 0, "the root meets a suspect while other ranks live");
  }
  if (job_fails()) {
    n.member.failed(j.pieces.unit, "it throws", list);
    perform(rank, list);
    return;
  }
  if (j.what == job::kind::read) {
    ++reads_;
    if (n.host.active() && n.host.term() == j.term) {
      n.units[j.pieces.unit] = scenario_->pieces(j.pieces.unit);
      n.kept[j.pieces.unit].resize(scenario_->pieces(j.pieces.unit));
      n.carried = j.pieces.unit;
    }
    n.host.was_read(j.term, scenario_->pieces(j.pieces.unit), list);
  } else if (j.what == job::kind::process) {
    if (auto const held = n.packets.find(j.id); held != n.packets.end()) {
      auto const& [term, cuts] = held->second;
      for (auto p = j.pieces.first; p < j.pieces.first + j.pieces.count; ++p)
        n.done.insert({{term, j.pieces.unit, p}, result_of(cuts.at(p - n.first_of.at(j.id)))});
    }
    for (auto p = j.pieces.first; p < j.pieces.first + j.pieces.count; ++p) ++runs_[{j.pieces.unit, p}];
    n.member.finished(j.id, j.pieces, j.pieces.count, list);
  } else {
    n.host.delivered(j.term, j.pieces.unit, list);
  }
  perform(rank, list);
}

void world::retire(int rank) {
  auto& n = at(rank);
  ++retirements_;
  n.retires = !n.retires;
  role::group_actions list;
  n.member.retire(n.retires, list);
  perform(rank, list);
}

// What the rank has said, as the engine makes sure.
bool world::all_heard(int rank) const {
  for (int to = 0; to < scenario_->ranks; ++to)
    if (at(to).alive && (!under_way(rank, to).empty() || lost_[wire(to, rank)])) return false;
  return true;
}

bool world::is_deadly(job const& j) const {
  auto const& s = *scenario_;
  if (j.what == job::kind::read) return s.deadly_unit == j.pieces.unit;
  return j.what == job::kind::process && s.deadly_piece && s.deadly_piece->unit == j.pieces.unit &&
         s.deadly_piece->piece - j.pieces.first < j.pieces.count;
}

void world::kill(int rank) {
  auto const& s = *scenario_;
  ++killed_;
  for (int to = 0; to < s.ranks && s.last_words; ++to)
    while (to != rank && active(to) && !under_way(rank, to).empty()) {
      deliver(rank, to);
      follow_up(to);
    }
  apply({kind::die, rank, 0, (s.seed + static_cast<std::uint64_t>(killed_)) % 4});
  // The deadly work may finally kill a host, and with it the record of its members.
  auto const most = static_cast<int>(2 * std::max(2U, s.most_losses) + 2);
  bool const sure = s.last_words && s.deaths == 0 && s.suspicions == 0 && s.most_losses > 0;
  require(!sure || killed_ <= most, "deadly work ends " + std::to_string(killed_) + " ranks");
}

bool world::blames(role::outcome const& how) {
  return how.how == role::outcome::status::task_failed &&
         how.text.find("was running on each of the lost ranks") != std::string::npos;
}

// If ranks die only of the deadly work and all their messages arrive, the deadly work is blamed. A suspect
// that waited on lost ranks behind the deadly work may be blamed after one more loss.
bool world::may_blame(role::outcome const& how) const {
  auto const& s = *scenario_;
  if (!blames(how)) return false;
  require(s.most_losses > 0, "work is blamed that may end any number of ranks");
  if (!s.last_words || deaths_ > killed_ || suspicions_ > 0) return deaths_ + suspicions_ > 0;
  require(s.is_deadly(), "work is blamed, but no work is deadly");
  auto const unit = s.deadly_piece ? s.deadly_piece->unit : *s.deadly_unit;
  require(how.task == unit, "unit " + std::to_string(how.task) + " is innocent: " + how.text);
  if (!how.text.starts_with("piece ")) return true;
  require(s.deadly_piece.has_value(), "a piece is innocent: " + how.text);
  auto const name = "piece " + std::to_string(s.deadly_piece->piece) + " of unit ";
  require(how.text.starts_with(name), "a piece is innocent: " + how.text);
  return true;
}

void world::hear_lost(int rank, int peer) {
  role::group_actions list;
  if (rank == 0) {
    auto const before = root_role_.taken_over();
    if (!roll_.stopping()) root_role_.lost(peer, list);
    again_ += root_role_.taken_over() - before;
    perform(0, list);
  }
  auto const before = at(rank).host.units().taken_back();
  at(rank).host.lost(peer, list);
  again_ += at(rank).host.units().taken_back() - before;
  perform(rank, list);
  at(rank).member.lost(peer, list);
  perform(rank, list);
}

void world::hear_tick(int rank) {
  role::group_actions list;
  at(rank).member.tick(list);
  at(rank).host.tick(list);
  if (rank == 0 && !roll_.stopping()) root_role_.tick(list);
  perform(rank, list);
}

void world::please_stop(int rank) {
  role::group_actions list;
  at(rank).member.please_stop(list);
  perform(rank, list);
}

void world::add_own(int rank, std::vector<event>& all) const {
  auto const& s = *scenario_;
  auto const& n = at(rank);
  if (rank == 0 && root_role_.on_trial() && n.carried)
    all.push_back({kind::measure, 0, 0, 1 + s.seed % static_cast<std::uint64_t>(s.ranks)});
  if (rank != 0 && retirements_ < s.retirements) all.push_back({kind::retire, rank});
  if (n.retires && n.member.vacant() && all_heard(rank)) all.push_back({kind::leave, rank});
  for (int j = 0; j < static_cast<int>(n.running.size()); ++j) {
    all.push_back({kind::finish, rank, j});
    auto const& x = n.running[static_cast<std::size_t>(j)];
    if (x.what == job::kind::read && x.ready < s.pieces(x.pieces.unit)) all.push_back({kind::ready, rank, j});
  }
}

std::uint64_t world::most_events() const {
  auto const& s = *scenario_;
  return 100 * static_cast<std::uint64_t>(s.ranks) + 40 * s.units * (s.most_pieces + 2);
}

// --- invariants

void world::check() const {
  if (!active(0) || roll_.stopping()) return;
  require(root_role_.orphans() == 0, "a rank is forgotten");
  check_no_orphan();
  for (int r = 0; r < scenario_->ranks; ++r)
    require(at(r).host.units().size() <= scenario_->read_ahead + 2, "a host holds too many units");
  for (auto const& n : nodes_) {
    bool const suspect = std::any_of(n.running.begin(), n.running.end(), [&](job const& j) {
      return n.suspects.contains(j.id) && n.packets.contains(j.id);
    });
    require(!suspect || n.running.size() == 1, "a suspect is not alone");
  }
}

// When no message is in flight and no rank is lost: while a host has a unit that no rank has started to read,
// each idle rank has sent a request to a host that leads. The check does not use the root's record.
void world::check_no_orphan() const {
  auto const& s = *scenario_;
  bool const sound =
      std::none_of(lost_.begin(), lost_.end(), [](bool l) { return l; }) && deaths_ == 0 && suspicions_ == 0;
  bool const all_begun = std::all_of(nodes_.begin(), nodes_.end(), [](node const& n) { return n.begun; });
  if (!wires_.empty() || !sound || retirements_ > 0 || !all_begun || !s.reassigns || root_role_.on_trial())
    return;
  bool const work = std::any_of(nodes_.begin(), nodes_.end(), [](node const& n) {
    return n.host.active() && n.carried && *n.carried + 2 < n.share_end;
  });
  for (int r = 0; r < s.ranks && work; ++r) {
    auto const& member = at(r).member;
    if (member.has_work() || member.running() > 0 || (at(r).host.active() && !s.hosts_help)) continue;
    if (at(r).running.size() >= s.threads) continue;  // its thread reads
    require(member.awaits() && at(*member.awaits()).host.active(), "a rank is an orphan");
  }
}

void world::record(std::uint64_t unit, results const& cargo) {
  require(sunk_.emplace(unit, cargo).second, "a unit reaches the sink twice");
  require(cargo.size() == scenario_->pieces(unit), "a unit of the wrong size");
  for (std::size_t p = 0; p < cargo.size(); ++p)
    require(cargo[p] == result_of(cut_of(unit, p)), "a wrong result");
}

void world::check_done() const {
  require(sunk_.size() == scenario_->units, "units are missing at the end");
  require(started_ || scenario_->units == 0, "the clock never started");
  bool const sound = deaths_ + suspicions_ == 0 && scenario_->group_size != 0;
  for (auto const& [piece, runs] : runs_)
    require(!sound || runs == 1, "a piece is processed twice, though no rank was lost");
  bool const escaped =
      scenario_->deadly_piece
          ? scenario_->deadly_piece->piece >= scenario_->pieces(scenario_->deadly_piece->unit)
          : scenario_->deadly_unit && *scenario_->deadly_unit >= scenario_->units;
  require(!scenario_->is_deadly() || escaped || root_met_it_, "deadly work does no harm");
}

void node::add_to(role::digest& d) const {
  d.add(member).add(host);
  for (auto const* jobs : {&waiting, &running}) {
    for (auto const& j : *jobs)
      d.add(static_cast<std::uint64_t>(j.what))
          .add(j.term)
          .add(j.id)
          .add(j.pieces.unit)
          .add(j.pieces.first)
          .add(j.ready);
    d.add(jobs->size());
  }
  d.add(retires);
  for (auto const& [key, value] : done) d.add(key[0]).add(key[1]).add(key[2]);
}

}  // namespace group_harness
