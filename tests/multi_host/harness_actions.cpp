// The harness's part of the engine: performs the actions of multi_host's roles.
#include <algorithm>

#include "harness.hpp"

namespace group_harness {

namespace group = role::group;

void world::perform(int rank, role::group_actions& list, results const& cargo) {
  if (fault_ != nullptr) fault_->wants(*this, rank, list);
  std::size_t used = 0;
  for (auto const& action : std::exchange(list, {})) perform_one(rank, action, cargo, used);
}

void world::perform_one(int rank, role::group_action const& action, results const& cargo, std::size_t& used) {
  auto& n = at(rank);
  if (auto const* const s = std::get_if<group::send>(&action)) {
    send(rank, s->to, s->what);
  } else if (auto const* a = std::get_if<group::accept>(&action)) {
    require(cargo.size() == a->pieces.count, "a packet of another size than it says");
    n.packets[a->id] = {a->term, cargo};
    n.first_of[a->id] = a->pieces.first;
    if (n.suspect_arrives) n.suspects.insert(a->id);
  } else if (auto const* x = std::get_if<group::execute>(&action)) {
    require(n.packets.contains(x->id), "a packet is not there");
    n.running.push_back({job::kind::process, 0, x->id, x->pieces});
  } else if (auto const* f = std::get_if<group::forget>(&action)) {
    std::erase_if(n.packets, [&](auto const& p) { return p.second.first == f->term; });
    std::erase_if(n.done, [&](auto const& d) { return d.first[0] == f->term; });
  } else if (std::holds_alternative<role::drain>(action)) {
    n.draining = true;
    n.waiting.clear();
    role::group_actions list;
    n.host.stop(list);
    perform(rank, list);
  } else if (auto const* r = std::get_if<group::record>(&action)) {
    record(r->unit, cargo);
    if (!root_role_.complete()) return;
    complete_ = true;
  } else if (std::holds_alternative<group::started>(action)) {
    require(rank == 0 && !started_, "the clock starts twice");
    started_ = true;
  } else if (!performs(rank, action)) {
    perform_for_host(rank, action, cargo, used);
  }
}

void world::perform_for_host(int rank, role::group_action const& action, results const& cargo,
                             std::size_t& used) {
  auto& n = at(rank);
  if (auto const* r = std::get_if<group::read>(&action)) {
    auto const reads = [&](job const& j) { return j.what == job::kind::read && j.term == r->term; };
    require(std::none_of(n.waiting.begin(), n.waiting.end(), reads) &&
                std::none_of(n.running.begin(), n.running.end(), reads),
            "two reads at a time");
    require(r->unit < n.share_end, "a host reads what is not its own");
    bool const sound = deaths_ == 0 && suspicions_ == 0 && scenario_->group_size != 0;
    require(begun_.insert(r->unit).second || !sound, "a unit is read twice");
    require(r->fresh ? !n.carried : n.carried && *n.carried + 1 == r->unit, "units are not read in order");
    std::erase_if(n.waiting,
                  [](job const& j) { return j.what == job::kind::read; });  // they belong to an older term
    n.waiting.push_back({job::kind::read, r->term, 0, {r->unit, 0, 0}, r->fresh, r->alone});
  } else if (auto const* k = std::get_if<group::keep>(&action)) {
    auto& all = n.kept[k->pieces.unit];
    all.resize(std::max<std::size_t>(all.size(), k->pieces.first + k->pieces.count));
    // The cargo holds the results of all runs of the message in their order, by piece.
    for (auto p = k->pieces.first; p < k->pieces.first + k->pieces.count; ++p) {
      require(!all[p].has_value(), "a result is kept twice");
      while (used < cargo.size() && cargo[used] != result_of(cut_of(k->pieces.unit, p))) ++used;
      require(used < cargo.size(), "the result that is kept did not come");
      all[p] = cargo[used++];
    }
  } else if (auto const* d = std::get_if<group::deliver>(&action)) {
    auto const& all = n.kept[d->unit];
    require(std::all_of(all.begin(), all.end(), [](auto const& x) { return x.has_value(); }),
            "a unit leaves without all its results");
    if (scenario_->slow_delivery) {
      n.waiting.push_back({job::kind::take, d->term, 0, {d->unit, 0, 0}});
      return;
    }
    role::group_actions more;
    n.host.delivered(d->term, d->unit, more);
    perform(rank, more);
  } else if (std::holds_alternative<group::close>(action)) {
    n.units.clear();
    n.kept.clear();
    n.carried.reset();
    std::erase_if(n.waiting, [](job const& j) { return j.what != job::kind::process; });
  }
}

void world::attach(int rank, packet& p) {
  auto& n = at(rank);
  if (auto const* const m = std::get_if<group::packet>(&p.what)) {
    auto const& run = m->pieces;
    require(n.units.contains(run.unit) && run.first + run.count <= n.units.at(run.unit),
            "pieces are given that have not been read");
    for (auto i = run.first; i < run.first + run.count; ++i) p.cargo.push_back(cut_of(run.unit, i));
  } else if (auto const* const r = std::get_if<group::returned>(&p.what)) {
    for (auto const& run : r->runs)
      for (auto i = run.first; i < run.first + run.count; ++i) {
        auto const result = n.done.extract({r->term, run.unit, i});
        require(!result.empty(), "a result is returned that is not there");
        p.cargo.push_back(result.mapped());
      }
  } else if (auto const* const d = std::get_if<group::unit_done>(&p.what)) {
    for (auto const& result : n.kept.at(d->unit)) p.cargo.push_back(result.value());
    n.kept.erase(d->unit);
    n.units.erase(d->unit);
  }
}

void world::send(int rank, int to, role::group_message const& what) {
  auto p = packet_of(what);
  attach(rank, p);
  if (auto const* const l = std::get_if<group::let_go>(&what)) at(rank).share_end = l->end;
  post(rank, to, std::move(p));
}

// Idle threads take waiting jobs: reading first, because members depend on it.
void world::start_jobs(int rank) {
  auto& n = at(rank);
  auto const may_start = [&] {
    if (n.running.size() >= scenario_->threads || n.waiting.empty() || n.member.runs_alone()) return false;
    return !n.waiting.front().alone || (n.running.empty() && !n.member.has_work());
  };
  role::group_actions list;
  while (may_start()) {
    auto const j = n.waiting.front();
    n.waiting.erase(n.waiting.begin());
    n.running.push_back(j);
    if (j.alone) n.host.opens(j.term, j.pieces.unit, list);
    perform(rank, list);
  }
  while (n.running.size() < scenario_->threads) {
    auto const before = n.running.size();
    n.member.pace(scenario_->seed % 4);
    n.member.idle(1 + scenario_->seed % 2, n.running.empty(), list);
    perform(rank, list);
    if (n.running.size() == before) break;
  }
}

void world::follow_up(int rank) {
  auto& n = at(rank);
  if (!active(rank)) return;
  start_jobs(rank);
  role::group_actions list;
  if (rank == 0 && root_role_.complete() && !roll_.stopping()) {
    complete_ = true;
    call_roll(&role::roll_call::close, role::outcome{.tasks = scenario_->units});
  }
  if (n.draining && n.running.empty()) {
    n.member.quiet(list);
    perform(rank, list);
  }
}

}  // namespace group_harness
