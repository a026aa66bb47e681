#include "multi_host/role/root.hpp"

#include <algorithm>
#include <utility>

#include "role/digest.hpp"

namespace skel::role {

namespace act = group_act;

group_root::group_root(group_root_config config)
    : config_(std::move(config)), members_(config_.ranks), suspects_(config_.most_losses) {
  for (rank_id r = 0; r < std::min(config_.ranks, static_cast<rank_id>(config_.power.size())); ++r)
    members_[r].power = config_.power[static_cast<std::size_t>(r)];
}

// --- groups are formed

void group_root::begin(group_actions& out) { advance(out); }

// Until the cost of units is known, groups are as small as possible, so that no rank waits for the trial.
void group_root::form(group_actions& out) {
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

// Assigns all ranks and all units to groups.
void group_root::divide(unsigned size) {
  std::vector<double> power;
  power.reserve(static_cast<std::size_t>(config_.ranks));
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
      members_[r].group = r == p.leader && !config_.hosts_help && p.ranks > 1 ? none : groups();
    groups_.push_back(g);
  }
}

void group_root::measured(unsigned group_size, group_actions& out) {
  if (!trial_) return;
  trial_ = false;
  if (group_size > 1) join(group_size, out);
  advance(out);
}

// Joins small groups into larger ones. A leader whose share starts where its new group's share starts goes
// on. Units that the others have started are void, unless the root has their results.
void group_root::join(unsigned size, group_actions& out) {
  auto before = std::exchange(groups_, {});
  // The group that each rank leads, or led last, or works for.
  std::vector<int> of_rank;
  for (rank_id r = 0; r < config_.ranks; ++r) {
    int g = members_[r].group;
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
    if (of_rank[leader] == none) continue;
    auto& its_own = before[static_cast<std::size_t>(of_rank[leader])];
    if (its_own.host != plan_[i].leader || its_own.first != g.first || !hosted(its_own)) continue;
    g.host = its_own.host;
    g.term = std::exchange(its_own.term, 0);
    lead(g, out);
  }
  for (rank_id r = 0; r < config_.ranks; ++r) {
    auto const g = of_rank[static_cast<std::size_t>(r)];
    order(r, g == none ? 0 : before[static_cast<std::size_t>(g)].term, out);
  }
}

// --- queries

bool group_root::takes_ranks(group const& g) const {
  return !finished(g) && hosted(g) && g.left > config_.left_alone;
}

int group_root::leads(rank_id r) const {
  for (int g = 0; g < groups(); ++g)
    if (of(g).host == r && !finished(of(g))) return g;
  return none;
}

// Whether the rank's worker has nothing to do in its group. A rank that leads a unit that was open on lost
// hosts does nothing else.
bool group_root::free_to_move(rank_id r) const {
  auto const& m = members_[r];
  if (!m.alive) return false;
  int const led = leads(r);
  if (led != none && (of(led).alone || (!config_.hosts_help && m.group == none))) return false;
  return m.group == none || finished(of(m.group)) || of(m.group).left == 0;
}

int group_root::workers(int g) const {
  return static_cast<int>(std::count_if(members_.begin(), members_.end(),
                                        [&](member const& m) { return m.alive && m.group == g; }));
}

std::uint64_t group_root::first_unrecorded(group const& g) const {
  auto u = g.first;
  while (u < g.end && recorded_.contains(u)) ++u;
  return u;
}

std::uint64_t group_root::recorded_of(group const& g) const {
  std::uint64_t n = 0;
  for (auto u = g.first; u < g.end; ++u) n += recorded_.contains(u) ? 1 : 0;
  return n;
}

std::optional<rank_id> group_root::works_for(rank_id rank) const {
  auto const g = members_[rank].group;
  if (g == none || of(g).host == none) return std::nullopt;
  return of(g).host;
}

std::string group_root::waits_for() const {
  std::string text;
  for (int g = 0; g < groups(); ++g)
    if (!finished(of(g)))
      text += (text.empty() ? "units " : ", ") + std::to_string(first_unrecorded(of(g))) + " ... " +
              std::to_string(of(g).end - 1) + " from rank " + std::to_string(of(g).host) + " with " +
              std::to_string(workers(g)) + " ranks";
  return formed_ ? text : "ranks to say hello";
}

// --- orders

// Sends the rank its host, and the term whose work it need not finish.
void group_root::order(rank_id r, term_id ended, group_actions& out) const {
  auto const g = members_[r].group;
  group_msg::serve m{.ended = ended};
  if (g != none) {
    if (of(g).host != none) m.host = of(g).host;
    m.term = of(g).term;
  }
  out.push_back(act::send{r, m});
}

// Assigns units up to the next one that was open on lost hosts, or one such unit alone.
void group_root::lead(group& g, group_actions& out) {
  auto const first = first_unrecorded(g);
  g.alone = suspects_.contains(first);
  g.opened = false;
  g.led_to = g.alone ? first + 1 : g.end;
  for (auto u = first; u < g.led_to; ++u)
    if (!g.alone && suspects_.contains(u)) g.led_to = u;
  if (g.alone) suspects_.given(first, g.host);
  out.push_back(act::send{g.host, group_msg::lead{g.term,
                                                  {first, g.led_to, g.alone, g.led_to < g.end},
                                                  static_cast<std::uint64_t>(g.ranks),
                                                  config_.preloads && !gone_}});
}

// Once the root has the results of all units assigned to a host, the host gets those that follow. The root
// does not lead a unit that was open on lost hosts while other ranks live.
void group_root::lead_on(group_actions& out) {
  for (int g = 0; g < groups(); ++g) {
    if (finished(of(g)) || !hosted(of(g)) || of(g).led_to >= of(g).end) continue;
    auto const first = first_unrecorded(of(g));
    if (first < of(g).led_to || suspects_.blames(first)) continue;
    if (of(g).host == 0 && suspects_.contains(first) && others_live())
      cut(g, first);
    else
      lead(of(g), out);
  }
}

bool group_root::others_live() const {
  return std::any_of(members_.begin() + 1, members_.end(), [](member const& m) { return m.alive; });
}

// Cuts the share in two; the second part has no host yet.
void group_root::cut(int g, std::uint64_t where) {
  auto& x = of(g);
  group tail;
  tail.first = where;
  tail.end = std::exchange(x.end, where);
  tail.done = recorded_of(tail);
  tail.left = (tail.end - tail.first - tail.done) * whole_unit;
  x.done -= tail.done;
  groups_.push_back(tail);
}

void group_root::advance(group_actions& out) {
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
  // The root's share has nothing to measure.
  if (trial_ && leads(0) == none) trial_ = false;
  lead_on(out);
  appoint_where_missing(out);
  move_free_ranks(out);
  employ_for_suspects(out);
  employ_hosts(out);
  maybe_go(out);
}

// --- a share without a living host

void group_root::appoint_where_missing(group_actions& out) {
  for (int g = 0; g < groups(); ++g) {
    if (finished(of(g)) || hosted(of(g)) || suspects_.blames(first_unrecorded(of(g)))) continue;
    // If every rank leads, the first to finish takes the share. A host that was declared dead and is alive
    // goes on.
    if (rank_id const r = candidate(g); r != none) appoint(g, r, out);
  }
}

// Prefers a rank of the group, then one without work, then one of the largest group. The root leads no unit
// that was open on lost hosts while other ranks live.
rank_id group_root::candidate(int g) const {
  rank_id best = none;
  int best_class = 0;
  bool const spare_root = suspects_.contains(first_unrecorded(of(g))) && others_live();
  for (rank_id r = spare_root ? 1 : 0; r < config_.ranks; ++r) {
    if (!members_[r].alive || leads(r) != none) continue;
    int const now = members_[r].group;
    int const its_class = now == g ? config_.ranks + 2 : free_to_move(r) ? config_.ranks + 1 : workers(now);
    if (best != none && its_class <= best_class) continue;
    best = r;
    best_class = its_class;
  }
  return best;
}

void group_root::appoint(int g, rank_id r, group_actions& out) {
  auto& x = of(g);
  rank_id const before = x.host;
  term_id const ended = x.term;
  x.host = r;
  x.term = ++terms_;
  x.left = (x.end - x.first - x.done) * whole_unit;
  x.loaded = x.suspects = x.last_resort = x.whole = false;
  x.promised = 0;
  if (before != none) ++taken_over_;
  lead(x, out);
  members_[r].group = config_.hosts_help ? g : none;
  for (rank_id q = 0; q < config_.ranks; ++q)
    if (members_[q].group == g || q == before || q == r) order(q, ended, out);
}

// --- ranks without work: root_moves.cpp

// The host itself works if its group's workers are lost, or moved away before pieces came back.
void group_root::employ_hosts(group_actions& out) {
  for (int g = 0; g < groups(); ++g) {
    auto const& x = of(g);
    if (finished(x) || !hosted(x) || x.left == 0 || workers(g) > 0) continue;
    members_[x.host].group = g;
    order(x.host, 0, out);
    g = none;  // the host may have been the last worker of another group
  }
}

void group_root::maybe_go(group_actions& out) {
  if (gone_) return;
  for (auto const& g : groups_)
    if (!finished(g) && hosted(g) && !g.loaded) return;
  gone_ = true;
  out.push_back(act::started{});
  for (auto const& g : groups_)
    if (g.host != none) out.push_back(act::send{g.host, group_msg::go{g.term}});
}

// --- events

group_root::group* group_root::led_by(rank_id r, term_id term) {
  auto const g = std::find_if(groups_.begin(), groups_.end(),
                              [&](group const& x) { return x.host == r && x.term == term; });
  return g == groups_.end() ? nullptr : &*g;
}

void group_root::heard(rank_id rank, group_actions& out) {
  if (!members_.has(rank) || members_[rank].alive) return;
  members_[rank].alive = true;
  advance(out);
}

void group_root::on(rank_id from, hello const& m, group_actions& out) {
  if (!members_.has(from)) return;
  auto& x = members_[from];
  x.hello = true;
  if (config_.measures_power && !formed_ && m.power > 0) x.power = m.power;
  advance(out);
}

void group_root::on(rank_id from, group_msg::left const& m, group_actions& out) {
  if (auto* const g = led_by(from, m.term)) {
    g->left = m.amount + (g->end - g->led_to) * whole_unit;
    g->suspects = m.suspects;
  }
  advance(out);
}

void group_root::on(rank_id from, group_msg::opens const& m, group_actions& /*out*/) {
  if (!members_.has(from)) return;
  if (auto* const g = led_by(from, m.term)) g->opened = g->alone && m.unit == first_unrecorded(*g);
}

void group_root::on(rank_id from, group_msg::loaded const& m, group_actions& out) {
  if (auto* const g = led_by(from, m.term)) g->loaded = true;
  advance(out);
}

// Counts in any term: the results of a host that was declared dead are valid.
void group_root::on(rank_id from, group_msg::unit_done const& m, group_actions& out) {
  if (m.unit >= config_.units) {
    out.push_back(
        fail{fail::reason::protocol, "rank " + std::to_string(from) + " names units that do not exist"});
  } else if (recorded_.insert(m.unit)) {
    suspects_.acquit(m.unit);
    for (auto& g : groups_)
      if (g.first <= m.unit && m.unit < g.end) ++g.done;
    out.push_back(act::record{m.unit});
  }
  advance(out);
}

void group_root::lost(rank_id rank, group_actions& out) {
  if (rank == 0 || !members_.has(rank)) return;
  lost_.lost(rank);
  if (!std::exchange(members_[rank].alive, false)) return;
  suspect_units_of(rank);
  advance(out);
}

std::uint64_t group_root::hash() const {
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
        .add(g.whole)
        .add(g.led_to)
        .add((g.alone ? 1U : 0U) + (g.opened ? 2U : 0U) + (g.suspects ? 4U : 0U) + (g.last_resort ? 8U : 0U));
  for (auto const& m : members_) d.add(number(m.group)).add((m.alive ? 1U : 0U) + (m.hello ? 2U : 0U));
  suspects_.hash(d, [](std::uint64_t unit) { return unit; });
  lost_.hash(d);
  d.add(verdict_ticks_).add(recorded_.count()).add(recorded_.low_water()).add(formed_).add(trial_).add(gone_);
  return d.value();
}

}  // namespace skel::role
