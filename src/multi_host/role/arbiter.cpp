#include "multi_host/role/arbiter.hpp"

#include <algorithm>
#include <utility>

#include "role/digest.hpp"

namespace skel::role {

using group_kind = peer_message_kind;
namespace act = group_act;

arbiter::arbiter(arbiter_config config)
    : config_(std::move(config)), members_(static_cast<std::size_t>(config_.ranks)) {
  for (std::size_t i = 0; i < members_.size() && i < config_.power.size(); ++i)
    members_[i].power = config_.power[i];
}

// --- groups are formed

void arbiter::begin(group_actions& out) { advance(out); }

// Until it is known what units cost, groups are as small as they can be: nobody waits to find out.
void arbiter::form(group_actions& out) {
  trial_ = config_.group_size == 0 && config_.ranks > 1 && config_.units > 1;
  divide(std::max(1U, config_.group_size));
  gone_ = !config_.preloads || trial_ || groups_.empty();
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    groups_[i].host = plan_[i].leader;
    groups_[i].term = ++terms_;
    lead(groups_[i], out);
    for (int r = plan_[i].first_rank; r < plan_[i].first_rank + plan_[i].ranks; ++r) order(r, 0, out);
  }
  formed_ = true;
  if (gone_) out.push_back(act::started{});
}

// Into the book: all ranks and all units.
void arbiter::divide(unsigned size) {
  std::vector<double> power;
  power.reserve(members_.size());
  for (rank_id r = 0; r < config_.ranks; ++r) power.push_back(power_of(r));
  plan_ = form_groups(power, size, 0, config_.units);
  groups_.clear();
  for (auto const& p : plan_) {
    group g;
    g.first = p.first_unit;
    g.end = p.end_unit;
    g.ranks = p.ranks;
    g.done = recorded_of(g);
    g.left = (g.end - g.first - g.done) * whole_unit;
    for (int r = p.first_rank; r < p.first_rank + p.ranks; ++r)
      at(r).group = r == p.leader && !config_.hosts_help && p.ranks > 1 ? nobody : groups();
    groups_.push_back(g);
  }
}

void arbiter::measured(unsigned group_size, group_actions& out) {
  if (!trial_) return;
  trial_ = false;
  if (group_size > 1) join(group_size, out);
  advance(out);
}

// Small groups become larger ones. Where the leader's share begins as its new group's it goes on; what the
// others have begun is void, but for the units whose results are here.
void arbiter::join(unsigned size, group_actions& out) {
  auto before = std::exchange(groups_, {});
  // Which of them a rank leads, or has led last, or works for.
  std::vector<int> of_rank;
  for (rank_id r = 0; r < config_.ranks; ++r) {
    int g = at(r).group;
    term_id latest = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (before[i].host == r && before[i].term > latest) {
        latest = before[i].term;
        g = static_cast<int>(i);
      }
    of_rank.push_back(g);
  }
  divide(size);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    auto& g = groups_[i];
    auto const leader = static_cast<std::size_t>(plan_[i].leader);
    if (of_rank[leader] == nobody) continue;
    auto& its_own = before[static_cast<std::size_t>(of_rank[leader])];
    if (its_own.host != plan_[i].leader || its_own.first != g.first || !hosted(its_own)) continue;
    g.host = its_own.host;
    g.term = std::exchange(its_own.term, 0);
    lead(g, out);
  }
  for (rank_id r = 0; r < config_.ranks; ++r) {
    auto const g = of_rank[static_cast<std::size_t>(r)];
    order(r, g == nobody ? 0 : before[static_cast<std::size_t>(g)].term, out);
  }
}

// --- what the book says

bool arbiter::takes_ranks(group const& g) const {
  return !finished(g) && hosted(g) && g.left > config_.left_alone;
}

int arbiter::leads(rank_id r) const {
  for (int g = 0; g < groups(); ++g)
    if (of(g).host == r && !finished(of(g))) return g;
  return nobody;
}

// Its slave has nothing to do where it belongs.
bool arbiter::free_to_move(rank_id r) const {
  auto const& m = at(r);
  if (!m.alive) return false;
  if (!config_.hosts_help && leads(r) != nobody && m.group == nobody) return false;  // it only serves
  return m.group == nobody || finished(of(m.group)) || of(m.group).left == 0;
}

int arbiter::workers(int g) const {
  return static_cast<int>(std::count_if(members_.begin(), members_.end(),
                                        [&](member const& m) { return m.alive && m.group == g; }));
}

std::uint64_t arbiter::first_unrecorded(group const& g) const {
  auto u = g.first;
  while (u < g.end && recorded_.contains(u)) ++u;
  return u;
}

std::uint64_t arbiter::recorded_of(group const& g) const {
  std::uint64_t n = 0;
  for (auto u = g.first; u < g.end; ++u) n += recorded_.contains(u) ? 1 : 0;
  return n;
}

std::optional<rank_id> arbiter::works_for(rank_id rank) const {
  auto const g = at(rank).group;
  if (g == nobody || of(g).host == nobody) return std::nullopt;
  return of(g).host;
}

std::string arbiter::waits_for() const {
  std::string text;
  for (int g = 0; g < groups(); ++g)
    if (!finished(of(g)))
      text += (text.empty() ? "units " : ", ") + std::to_string(first_unrecorded(of(g))) + " ... " +
              std::to_string(of(g).end - 1) + " from rank " + std::to_string(of(g).host) + " with " +
              std::to_string(workers(g)) + " ranks";
  return formed_ ? text : "ranks to say hello";
}

// --- orders

// Where this rank belongs now, and what it need not finish.
void arbiter::order(rank_id r, term_id ended, group_actions& out) const {
  auto const g = at(r).group;
  peer_message m{.kind = group_kind::serve};
  if (g == nobody) {
    m.ids = {0, ended};
  } else {
    m.number = of(g).term;
    m.ids = {static_cast<std::uint64_t>(of(g).host) + 1, ended};
  }
  out.push_back(act::send{r, std::move(m)});
}

void arbiter::lead(group const& g, group_actions& out) {
  out.push_back(act::send{g.host,
                          {.kind = group_kind::lead,
                           .number = g.term,
                           .ids = {first_unrecorded(g), g.end, static_cast<std::uint64_t>(g.ranks),
                                   config_.preloads && !gone_ ? 1U : 0U}}});
}

void arbiter::advance(group_actions& out) {
  if (complete()) {
    if (formed_) maybe_go(out);
    return;
  }
  if (!formed_) {
    bool const ready =
        !config_.measures_power ||
        std::all_of(members_.begin(), members_.end(), [](member const& m) { return m.hello || !m.alive; });
    if (!ready) return;
    form(out);
  }
  // There was nothing to measure in the root's share.
  if (trial_ && leads(0) == nobody) trial_ = false;
  appoint_where_missing(out);
  move_free_ranks(out);
  employ_hosts(out);
  maybe_go(out);
}

// --- a share without a living host

void arbiter::appoint_where_missing(group_actions& out) {
  for (int g = 0; g < groups(); ++g) {
    if (finished(of(g)) || hosted(of(g))) continue;
    // Where everybody leads, whoever is through first takes it. One that was taken for lost, and lives, leads
    // on.
    if (rank_id const r = candidate(g); r != nobody) appoint(g, r, out);
  }
}

// Of its own group, or one without work, or one of the largest group.
rank_id arbiter::candidate(int g) const {
  rank_id best = nobody;
  int best_class = 0;
  for (rank_id r = 0; r < config_.ranks; ++r) {
    if (!at(r).alive || leads(r) != nobody) continue;
    int const now = at(r).group;
    int const its_class = now == g ? config_.ranks + 2 : free_to_move(r) ? config_.ranks + 1 : workers(now);
    if (best != nobody && its_class <= best_class) continue;
    best = r;
    best_class = its_class;
  }
  return best;
}

void arbiter::appoint(int g, rank_id r, group_actions& out) {
  auto& x = of(g);
  rank_id const before = x.host;
  term_id const ended = x.term;
  x.host = r;
  x.term = ++terms_;
  x.left = (x.end - x.first - x.done) * whole_unit;
  x.loaded = false;
  x.promised = 0;
  x.whole = false;
  if (before != nobody) ++taken_over_;
  lead(x, out);
  at(r).group = config_.hosts_help ? g : nobody;
  for (rank_id q = 0; q < config_.ranks; ++q)
    if (at(q).group == g || q == before || q == r) order(q, ended, out);
}

// --- ranks without work: arbiter_moves.cpp

// A group whose slaves are lost, or moved before pieces came back to it: its host works.
void arbiter::employ_hosts(group_actions& out) {
  for (int g = 0; g < groups(); ++g) {
    auto const& x = of(g);
    if (finished(x) || !hosted(x) || x.left == 0 || workers(g) > 0) continue;
    at(x.host).group = g;
    order(x.host, 0, out);
    g = nobody;  // it may have been the last to work for another one
  }
}

void arbiter::maybe_go(group_actions& out) {
  if (gone_) return;
  for (auto const& g : groups_)
    if (!finished(g) && hosted(g) && !g.loaded) return;
  gone_ = true;
  out.push_back(act::started{});
  for (auto const& g : groups_)
    if (g.host != nobody) out.push_back(act::send{g.host, {.kind = group_kind::go, .number = g.term}});
}

// --- events

void arbiter::on_unit(rank_id from, std::uint64_t unit, group_actions& out) {
  if (unit >= config_.units) {
    out.push_back(
        fail{fail::reason::protocol, "rank " + std::to_string(from) + " speaks of units that do not exist"});
    return;
  }
  if (!recorded_.insert(unit)) return;
  for (auto& g : groups_)
    if (g.first <= unit && unit < g.end) ++g.done;
  out.push_back(act::record{unit});
}

void arbiter::on(rank_id from, peer_message const& m, group_actions& out) {
  if (from < 0 || from >= config_.ranks) return;
  auto& x = at(from);
  bool const for_the_book = m.kind == group_kind::hello || m.kind == group_kind::left ||
                            m.kind == group_kind::loaded || m.kind == group_kind::unit_done ||
                            m.kind == group_kind::let_go;
  if (x.alive && !for_the_book) return;
  x.alive = true;  // whoever speaks is not lost
  auto const its_group = std::find_if(groups_.begin(), groups_.end(),
                                      [&](group const& g) { return g.host == from && g.term == m.number; });
  switch (m.kind) {
    case group_kind::hello:
      x.hello = true;
      if (config_.measures_power && !formed_ && !m.ids.empty() && m.ids[0] > 0)
        x.power = static_cast<double>(m.ids[0]);
      break;
    case group_kind::left:
      if (its_group != groups_.end() && !m.ids.empty()) its_group->left = m.ids[0];
      break;
    case group_kind::loaded:
      if (its_group != groups_.end()) its_group->loaded = true;
      break;
    case group_kind::unit_done:
      if (!m.ids.empty()) on_unit(from, m.ids[0], out);
      break;
    case group_kind::let_go:
      if (its_group != groups_.end() && m.ids.size() > 1)
        on_let_go(static_cast<int>(its_group - groups_.begin()), m.ids[0], m.ids[1], out);
      break;
    default:
      break;
  }
  advance(out);
}

void arbiter::lost(rank_id rank, group_actions& out) {
  if (rank <= 0 || rank >= config_.ranks || !at(rank).alive) return;
  at(rank).alive = false;
  advance(out);
}

std::uint64_t arbiter::hash() const {
  digest d;
  auto const number = [](int n) { return static_cast<std::uint64_t>(n + 1); };
  for (auto const& g : groups_)
    d.add(g.first)
        .add(g.end)
        .add(number(g.host))
        .add(g.term)
        .add(g.left)
        .add(g.done)
        .add(g.loaded)
        .add(g.promised)
        .add(g.whole);
  for (auto const& m : members_) d.add(number(m.group)).add((m.alive ? 1U : 0U) + (m.hello ? 2U : 0U));
  d.add(recorded_.count()).add(recorded_.low_water()).add(formed_).add(trial_).add(gone_);
  return d.value();
}

}  // namespace skel::role
