#include "harness.hpp"

#include <algorithm>
#include <numeric>

#include "protocol/deal.hpp"

namespace bsp_harness {

using role::bsp_generation;
using kind = event::kind;

namespace {

std::uint64_t mixed(std::uint64_t own, std::uint64_t left) {
  return (own ^ (left << 7)) * 0x9e3779b97f4a7c15U + (left >> 3);
}

values beginning(int cells) {
  values all(static_cast<std::size_t>(cells));
  std::iota(all.begin(), all.end(), 1);
  return all;
}

// Returns the share of `all` that belongs to the member at `place`.
part cut(values const& all, std::uint32_t place, std::uint32_t members) {
  auto const mine = skel::contiguous_share(all.size(), static_cast<int>(members), static_cast<int>(place));
  auto const first = all.begin() + static_cast<std::ptrdiff_t>(mine.first);
  return {0, static_cast<int>(mine.first), {first, first + static_cast<std::ptrdiff_t>(mine.count)}, {}};
}

}  // namespace

world::world(scenario const& s, fault* f) : peer_world(s, f) { open_store(); }

// --- consecutive jobs

// Returns the complete generations a new job finds, newest first.
std::vector<bsp_generation> world::restorable() const {
  std::vector<bsp_generation> all;
  for (auto const& [number, g] : store_)
    if (g.whole()) all.push_back({number, g.parts, {}, g.stamp});
  std::reverse(all.begin(), all.end());
  return all;
}

void world::open_store() {
  known_ = restorable();
  if (known_.empty()) store_.clear();
  resumes_ = !known_.empty();
  auto const ranks = static_cast<int>(nodes_.size());
  auto const newest = store_.empty() ? 0 : store_.rbegin()->first;
  at(0).root = role::bsp_root({0, ranks, scenario_->splits, scenario_->neighbours, stamp(), newest, known_,
                               scenario_->max_losses, scenario_->every > 0});
  for (int r = 0; r < ranks; ++r) at(r).role = role::bsp_member({r, 0, call_hash(r), scenario_->neighbours});
  committing_.reset();
  last_committed_ = newest;
  gone_.clear();
  announced_.clear();
  waited_.reset();
  epoch_ = {};
  moved_ = refused_ = false;
  begun_in_epoch_ = open_ = 0;
  told_of_.clear();
  begins_with_.clear();
  losses_.clear();
  poisoned_in_.clear();
  last_cells_.clear();
  uncounted_.clear();
  unheard_.clear();
  save_at_.reset();
  stop_heard_ = false;
  saved_for_stop_ = 0;
}

// Kills all ranks and starts a new job. Durable data survives; so does the manifest that was being written if
// `commit_lands`.
void world::rerun(int ranks, bool commit_lands) {
  ++reruns_;
  if (commit_lands && committing_) remove_old(committing_->number);
  auto s = *scenario_;
  s.ranks = ranks;
  s.other_call.reset();
  start_job(s);
  open_store();
  if (resumes_) ++resumed_;
}

// --- events

void world::begin(int rank) {
  auto& n = at(rank);
  role::bsp_actions list;
  n.role.begin(list);
  if (rank == 0) n.root.begin(list);
  perform(rank, list);
}

void world::receive(int from, int to, packet& p) {
  if (auto const* call = std::get_if<role::call_message>(&p.what); call != nullptr && for_roll_call(*call)) {
    if (to != 0) return;
    if (std::holds_alternative<role::please_stop>(*call)) {
      stop_heard_ = true;
      role::bsp_actions list;
      at(0).root.please_stop(list);
      perform(0, list);
    } else {
      call_roll(&role::roll_call::on, from, *call);
    }
    return;
  }
  if (to == 0) {
    if (auto const* j = std::get_if<role::bsp::joined>(&p.what); j != nullptr && j->epoch == epoch_.epoch)
      if (auto const at = told_of_.find(from); at != told_of_.end()) at->second.joined = true;
    if (auto const* b = std::get_if<role::bsp::bundle>(&p.what); b != nullptr && b->epoch == epoch_.epoch)
      note_finished(from, b->step);
    if (auto const* t = std::get_if<role::bsp::tally>(&p.what); t != nullptr && t->epoch == epoch_.epoch) {
      auto const& all = epoch_.members;
      auto const last = static_cast<int>(std::find(all.begin(), all.end(), from) - all.begin());
      auto const n = static_cast<int>(all.size());
      for (int back = 0; back < std::min(1 << t->round, n); ++back)
        note_finished(all[static_cast<std::size_t>((last - back + n) % n)], t->step);
    }
    if (auto const* i = std::get_if<role::bsp::idle>(&p.what); i != nullptr && i->epoch == epoch_.epoch)
      note_finished(from, i->step);
    if (auto const* r = std::get_if<role::bsp::reached>(&p.what); r != nullptr && r->epoch == epoch_.epoch) {
      for (auto const& f : r->finished) note_finished(f.rank, f.next - 1);
      if (r->generation == 0 && unheard_.erase(from) > 0) count_losses();
    }
  }
  auto& n = at(to);
  role::bsp_actions list;
  if (to != 0 || !n.root.on(from, p.what, list)) n.role.on(from, p.what, list);
  perform(to, list, p.content);
}

void world::hear_lost(int rank, int peer) {
  auto& n = at(rank);
  role::bsp_actions list;
  if (rank == 0) {
    hear_of_loss(peer);
    n.root.lost(peer, list);
  }
  n.role.lost(peer, list);
  perform(rank, list);
}

void world::hear_tick(int rank) {
  if (rank != 0) return;
  if (waited_) ++*waited_;
  role::bsp_actions list;
  at(rank).root.tick(list);
  perform(rank, list);
}

void world::please_stop(int rank) {
  role::bsp_actions list;
  at(rank).role.please_stop(list);
  perform(rank, list);
}

void world::add_own(int rank, std::vector<event>& all) const {
  auto const& n = at(rank);
  auto const& s = *scenario_;
  if (n.running) all.push_back({kind::finish, rank});
  if (n.writing) {
    all.push_back({kind::saved, rank, 0, 0});
    if (full_disks_ < s.full_disks) all.push_back({kind::saved, rank, 0, 1});
  }
  if (rank != 0 && retirements_ < s.retirements) all.push_back({kind::retire, rank});
  if (n.retires && n.role.vacant() && root_heard_all(rank)) all.push_back({kind::leave, rank});
  if (rank != 0) return;
  if (committing_ && !s.commits_hang) {
    all.push_back({kind::committed, 0, 0, 0});
    if (lost_commits_ < s.lost_commits && committing_->parts > 1) {
      all.push_back({kind::committed, 0, 0, 1});
      all.push_back({kind::committed, 0, 0, 2});
    }
  }
  if (damages_ < s.damages)
    for (auto const& [number, g] : store_)
      if (g.whole() && g.damaged.empty())
        all.push_back({kind::damage, 0, static_cast<int>(number % g.parts), number});
  if (reruns_ >= s.reruns || complete_) return;
  auto const found = restorable();
  auto const few = s.splits || found.empty() ? std::max(1, s.ranks - 1) : static_cast<int>(found[0].parts);
  auto const many = s.splits ? s.ranks + 1 : few;
  for (int ranks = few; ranks <= many; ++ranks)
    for (std::uint64_t const lands : {0U, 1U})
      if (lands == 0 || (committing_ && committing_->parts > 1))
        all.push_back({kind::rerun, 0, ranks, lands});
}

void world::apply_own(event const& e) {
  if (e.what == kind::finish) {
    finish(e.a);
  } else if (e.what == kind::saved) {
    write(e.a, e.n == 0);
  } else if (e.what == kind::retire) {
    retire(e.a);
  } else if (e.what == kind::leave) {
    ++left_;
    leave(e.a);
  } else if (e.what == kind::committed) {
    end_commit(e.n);
  } else if (e.what == kind::damage) {
    ++damages_;
    store_.at(e.n).damaged.insert(static_cast<std::uint32_t>(e.b));
  } else {
    rerun(e.b, e.n != 0);
  }
}

// --- the work

void world::finish(int rank) {
  auto& n = at(rank);
  if (is_poison(rank, *n.running)) {
    poisoned_in_[rank] = n.role.epoch().number;
    die(rank, ~0ULL);
    return;
  }
  auto const j = *std::exchange(n.running, std::nullopt);
  role::bsp_actions list;
  if (auto const* r = std::get_if<restore>(&j.what)) {
    load(rank, *r, list);
  } else if (auto const* s = std::get_if<save>(&j.what)) {
    take_letters(n, j, s->epoch, s->step);
    require(n.state.step == s->step, "a part of another superstep is saved");
    if (n.draining) return;
    if (s->epoch == n.role.epoch().number)
      n.writing = {*s, n.state};
    else
      n.role.saved(s->generation, false, list);
  } else {
    auto const& c = std::get<compute>(j.what);
    take_letters(n, j, c.epoch, c.step);
    bool const throws = job_fails();
    bool const more = mix(n, c, j);
    if (n.draining) return;
    if (throws)
      n.role.failed("it throws", list);
    else {
      if (rank == 0 && c.epoch == epoch_.epoch) {
        n.root.computed({c.epoch, c.step, more}, list);
        note_finished(0, c.step);
      }
      std::vector<std::uint32_t> messages_for;
      for (auto const& l : n.outgoing)
        if (l.sent) messages_for.push_back(l.to);
      n.role.computed(c.epoch, more, messages_for, list);
    }
  }
  perform(rank, list);
}

bool world::is_poison(int rank, job const& j) const {
  if (!scenario_->poison || rank == 0) return false;
  if (auto const* r = std::get_if<restore>(&j.what))
    return *scenario_->poison == scenario::restoring && r->place + 1 == r->members;
  auto const* c = std::get_if<compute>(&j.what);
  return c != nullptr && c->step == *scenario_->poison && j.place + 1 == j.members.size();
}

bool world::pauses(std::uint64_t step) const {
  return scenario_->sends == pattern::changing && step < scenario_->rounds &&
         role::digest{}.add(scenario_->seed).add(step).value() % 4 == 0;
}

// Whether the cell after those of `place` is one of `next`.
bool world::holds_next(std::uint32_t place, std::uint32_t next, std::uint32_t members) const {
  auto const cells = static_cast<std::uint64_t>(scenario_->cells);
  auto const share_of = [&](std::uint32_t p) {
    return skel::contiguous_share(cells, static_cast<int>(members), static_cast<int>(p));
  };
  auto const mine = share_of(place), theirs = share_of(next);
  auto const cell = (mine.first + mine.count) % cells;
  return mine.count > 0 && cell >= theirs.first && cell < theirs.first + theirs.count;
}

bool world::linked(std::uint32_t a, std::uint32_t b, std::uint32_t members) const {
  return holds_next(a, b, members) || holds_next(b, a, members) ||
         role::digest{}.add(scenario_->seed).add(std::min(a, b)).add(std::max(a, b)).value() % 5 == 0;
}

std::vector<int> world::neighbours_of(std::uint32_t place, std::uint32_t members) const {
  std::vector<int> all;
  for (std::uint32_t other = 0; scenario_->neighbours && other < members; ++other)
    if (other != place && linked(place, other, members)) all.push_back(static_cast<int>(other));
  return all;
}

bool world::sends(std::uint64_t step, std::uint32_t from, std::uint32_t to, std::uint32_t members) const {
  auto const& s = *scenario_;
  if (step > s.rounds || pauses(step)) return false;
  if (s.neighbours && from != to && !linked(from, to, members)) return false;
  if (s.sends == pattern::all) return true;
  if (step == s.rounds && !s.neighbours)
    return to == 0 && skel::contiguous_share(static_cast<std::uint64_t>(s.cells), static_cast<int>(members),
                                             static_cast<int>(from))
                              .count > 0;
  auto const dice = role::digest{}.add(s.seed).add(step).value();
  if (s.sends == pattern::changing && dice % 4 == 1) return true;
  if (s.sends == pattern::changing && dice % 4 == 2 &&
      role::digest{}.add(dice).add(from).add(to).value() % 3 == 0)
    return true;
  return from != to && holds_next(from, to, members);
}

// Moves the bundles of the previous superstep into the state, unless they are there already.
void world::take_letters(node& n, job const& j, std::uint64_t epoch, std::uint64_t step) const {
  if (!j.came) return;
  n.state.whole.clear();
  auto const members = static_cast<std::uint32_t>(j.members.size());
  for (std::uint32_t from = 0; from < members; ++from) {
    auto const at = j.came->find(j.members[from]);
    require((at != j.came->end() && at->second.sent) == sends(step - 1, from, j.place, members),
            "a message is missing or was not sent");
    if (at == j.came->end()) continue;
    auto const& l = at->second;
    require(l.epoch == epoch && l.step + 1 == step, "a bundle of another superstep");
    require(l.to == j.place && l.from == from, "a bundle of another rank");
    n.state.whole.insert(l.cells.begin(), l.cells.end());
  }
  require(std::all_of(j.came->begin(), j.came->end(),
                      [&](auto const& l) { return std::ranges::count(j.members, l.first) == 1; }),
          "bundles of ranks that are not members");
}

bool world::mix(node& n, compute const& c, job const& j) {
  auto const& s = *scenario_;
  auto& state = n.state;
  require(state.step == c.step, "a superstep is skipped or computed twice");
  ++state.step;
  bool const more = c.step <= s.rounds;  // not every rank reports this
  if (!more && !s.neighbours) {
    n.result.clear();
    for (auto const& [number, cell] : state.whole) n.result.push_back(cell);
  }
  if (c.step > 0 && more && !pauses(c.step - 1)) {
    auto const old = state.cells;
    for (std::size_t i = 0; i < old.size(); ++i) {
      auto const left = state.whole.find((state.first + static_cast<int>(i) + s.cells - 1) % s.cells);
      require(i > 0 || old.size() == static_cast<std::size_t>(s.cells) || left != state.whole.end(),
              "cells are missing");
      state.cells[i] = mixed(old[i], i > 0                       ? old[i - 1]
                                     : left != state.whole.end() ? left->second
                                                                 : old.back());
    }
  }
  if (!more) last_cells_[{c.epoch, j.members[j.place]}] = state.cells;
  n.outgoing.clear();
  auto const members = static_cast<std::uint32_t>(j.members.size());
  for (std::uint32_t to = 0; to < members; ++to) {
    auto& l = n.outgoing.emplace_back(
        letter{c.epoch, c.step, j.place, to, sends(c.step, j.place, to, members), {}});
    for (std::size_t i = 0; l.sent && i < state.cells.size(); ++i)
      l.cells.emplace(state.first + static_cast<int>(i), state.cells[i]);
  }
  if (more && c.step % j.members.size() == j.place) return true;
  // Ranks wait only for neighbours if they know that there is another superstep.
  auto const dice = role::digest{}.add(s.seed).add(c.step).add(1).value();
  return more && s.neighbours &&
         (s.all_continue || dice % 3 == 0 || (dice % 3 == 1 && (dice >> j.place & 4U) != 0));
}

// Neighbours send no cells to the root, so the result is what the members held at the end. Some may have
// died.
void world::gather_result() {
  auto& root = at(0);
  root.result.clear();
  for (int const m : root.role.epoch().members) {
    auto const found = last_cells_.find({root.role.epoch().number, m});
    require(found != last_cells_.end(), "the call completes before all supersteps");
    root.result.insert(root.result.end(), found->second.begin(), found->second.end());
  }
}

void world::load(int rank, restore const& r, role::bsp_actions& list) {
  auto& n = at(rank);
  if (job_fails()) {
    n.role.failed("it throws", list);
    return;
  }
  if (r.generation == 0) {
    n.state = cut(beginning(scenario_->cells), r.place, r.members);
    n.role.restored(r.epoch, 0, neighbours_of(r.place, r.members), list);
    return;
  }
  require(ever_whole_.contains(r.generation), "restored from a generation that was never whole");
  auto const found = store_.find(r.generation);
  bool const all = found != store_.end() && found->second.parts != r.members;
  bool const bad = found == store_.end() ||
                   (all ? !found->second.damaged.empty() : found->second.damaged.contains(r.place));
  if (bad) {
    n.role.unreadable(r.epoch, "cannot be read", list);
    return;
  }
  auto const& g = found->second;
  require(r.stamp == g.stamp, "a generation of another job is restored");
  require(scenario_->splits || !all, "a state that cannot be split is restored on another number of ranks");
  if (all) {
    values cells;
    for (auto const& [place, p] : g.stored) cells.insert(cells.end(), p.cells.begin(), p.cells.end());
    n.state = cut(cells, r.place, r.members);
    n.state.step = g.stored.at(0).step;
    for (int i = 0; i < scenario_->cells; ++i) n.state.whole.emplace(i, cells[static_cast<std::size_t>(i)]);
  } else {
    n.state = g.stored.at(r.place);
  }
  n.role.restored(r.epoch, n.state.step, neighbours_of(r.place, r.members), list);
}

void world::retire(int rank) {
  auto& n = at(rank);
  ++retirements_;
  n.retires = !n.retires;
  role::bsp_actions list;
  n.role.retire(n.retires, list);
  perform(rank, list);
}

// --- the store

void world::write(int rank, bool well) {
  auto& n = at(rank);
  auto const [what, content] = *std::exchange(n.writing, std::nullopt);
  if (!well) ++full_disks_;
  if (well) {
    auto& g = store_[what.generation];
    require(g.parts == 0 || g.parts == what.parts, "the parts of a generation disagree on their number");
    require(g.stored.emplace(what.place, content).second, "a part is written twice");
    require(g.stored.begin()->second.step == content.step, "parts of different supersteps");
    g.parts = what.parts;
    g.stamp = what.stamp;
    if (g.whole()) ever_whole_.insert(what.generation);
    if (what.parts == 1) remove_old(what.generation);
  }
  role::bsp_actions list;
  n.role.saved(what.generation, well, list);
  perform(rank, list);
}

// `how` is 0 if the commit succeeds, 1 if it fails, 2 if it reports a failure although the manifest was
// written.
void world::end_commit(std::uint64_t how) {
  auto const g = *std::exchange(committing_, std::nullopt);
  if (how != 1) remove_old(g.number);
  if (how == 0) {
    known_.insert(known_.begin(), g);
    ++commits_;
  } else {
    ++lost_commits_;
  }
  role::bsp_actions list;
  at(0).root.committed(g.number, how == 0, list);
  perform(0, list);
}

// Keeps the two newest complete generations and everything newer.
void world::remove_old(std::uint64_t newest) {
  auto oldest = newest;
  for (auto g = store_.find(newest); g != store_.begin();) {
    --g;
    if (!g->second.whole()) continue;
    oldest = g->first;
    break;
  }
  for (auto const& n : nodes_) {
    auto const needs = [&](job const& j) {
      auto const* r = std::get_if<restore>(&j.what);
      return r != nullptr && r->epoch == epoch_.epoch && r->generation > 0 && r->generation < oldest &&
             store_.contains(r->generation);
    };
    require(!(n.running && needs(*n.running)) && std::none_of(n.jobs.begin(), n.jobs.end(), needs),
            "a generation is removed while members restore it");
  }
  std::erase_if(store_, [&](auto const& g) { return g.first < oldest; });
}

// --- invariants

std::uint64_t world::most_events() const {
  auto const ranks = static_cast<std::uint64_t>(scenario_->ranks) + 4;
  return (scenario_->rounds + 4) * ranks * ranks * 4;
}

std::string world::waits_for() const {
  std::string text;
  for (int a = 0; a < scenario_->ranks; ++a)
    if (active(a))
      text += "; rank " + std::to_string(a) + " is in epoch " + std::to_string(at(a).role.epoch().number) +
              ", superstep " + std::to_string(at(a).role.step());
  return text.substr(std::min<std::size_t>(2, text.size()));
}

void world::check() const {
  auto const& decides = at(0).root;
  require(decides.checkpoint().saving() == open_, "root and members disagree on the generation being saved");
  require(decides.checkpoint().committing() == (committing_ ? committing_->number : 0),
          "root and store disagree on the commit under way");
  for (auto const& n : nodes_)
    require(n.kept.empty() || n.kept.begin()->first.first >= n.role.epoch().number,
            "bundles of an epoch that has ended are kept");
  // All reports on saved parts have arrived, so the root must have decided.
  if (open_ == 0 || !active(0) || at(0).draining || told_.size() < epoch_.members.size()) return;
  for (int const r : epoch_.members) {
    if (!at(r).alive || !gone_.empty()) return;
    for (auto const& p : under_way(r, 0))
      if (std::holds_alternative<role::bsp::saved>(p.what)) return;
  }
  require(false, "all parts are saved, but the root has not decided");
}

void world::check_done() const {
  auto const& s = *scenario_;
  auto all = beginning(s.cells);
  for (std::uint64_t r = 0; r < s.rounds; ++r) {
    if (pauses(r)) continue;
    auto const old = all;
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = mixed(old[i], old[(i + old.size() - 1) % old.size()]);
  }
  require(at(0).result == all, "the result differs from a sequential program's");
  require(at(0).how->tasks == s.rounds + 2, "the number of supersteps is wrong");
  // Time ends the wait of the others. Neighbours may be far before they hear of it, here also the root
  // itself.
  bool const trouble = deaths_ + suspicions_ + reruns_ + damages_ + lost_commits_ + full_disks_ > 0;
  require(trouble || s.neighbours || s.every == 0 || ticks_ > 10 || root_steps_ <= s.rounds + 2 + left_,
          "supersteps are repeated for a rank that leaves");
}

}  // namespace bsp_harness
