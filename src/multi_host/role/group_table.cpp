#include "multi_host/role/group_table.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

group_table::group_table(group_root_config const& config)
    : hosts_help_(config.measures.hosts_help),
      left_alone_(config.left_alone),
      sink_cost_(config.sink_cost),
      members_(config.ranks) {
  for (rank_id r = 0; r < std::min(config.ranks, static_cast<rank_id>(config.power.size())); ++r)
    members_[r].power = config.power[static_cast<std::size_t>(r)];
}

// --- shares

void group_table::divide(std::vector<group_plan> const& plan) {
  groups_.clear();
  for (auto const& p : plan) {
    entry g;
    g.first = p.first_unit;
    g.end = p.end_unit;
    g.ranks = p.ranks;
    g.done = recorded_of(g);
    g.now.left = g.missing();
    for (int r = p.first_rank; r < p.first_rank + p.ranks; ++r)
      members_[r].group = r == p.leader && !hosts_help_ && p.ranks > 1 ? no_group : groups();
    groups_.push_back(g);
  }
}

void group_table::cut(int g, std::uint64_t where) {
  auto& x = of(g);
  entry tail;
  tail.first = where;
  tail.end = std::exchange(x.end, where);
  tail.done = recorded_of(tail);
  tail.now.left = tail.missing();
  x.done -= tail.done;
  groups_.push_back(tail);
}

bool group_table::record(std::uint64_t unit) {
  if (!recorded_.insert(unit)) return false;
  for (auto& g : groups_)
    if (g.first <= unit && unit < g.end) ++g.done;
  return true;
}

std::uint64_t group_table::first_unrecorded(entry const& g) const {
  auto u = g.first;
  while (u < g.end && recorded_.contains(u)) ++u;
  return u;
}

std::uint64_t group_table::left_behind(entry const& g) const {
  std::uint64_t n = 0;
  for (auto u = g.led.end; u < g.end; ++u) n += recorded_.contains(u) ? 0 : 1;
  return n * whole_unit;
}

std::uint64_t group_table::recorded_of(entry const& g) const {
  std::uint64_t n = 0;
  for (auto u = g.first; u < g.end; ++u) n += recorded_.contains(u) ? 1 : 0;
  return n;
}

// --- groups

std::optional<int> group_table::led_by(rank_id r, term_id term) const {
  for (int g = 0; g < groups(); ++g)
    if (of(g).host == r && of(g).term == term) return g;
  return std::nullopt;
}

bool group_table::takes_ranks(entry const& g) const {
  return !g.finished() && hosted(g) && g.now.left > left_alone_;
}

std::vector<rank_id> group_table::working_for(int g) const {
  std::vector<rank_id> all;
  for (rank_id r = 0; r < members_.ranks(); ++r)
    if (members_[r].alive && members_[r].group == g) all.push_back(r);
  return all;
}

// --- ranks

int group_table::leads(rank_id r) const {
  for (int g = 0; g < groups(); ++g)
    if (of(g).host == r && !of(g).finished()) return g;
  return no_group;
}

// Whether the rank's member has nothing to do in its group. A rank that leads a unit that was open on lost
// hosts does nothing else.
bool group_table::free_to_move(rank_id r) const {
  auto const& m = members_[r];
  if (!m.alive || m.leaves) return false;
  int const led = leads(r);
  if (led != no_group && (of(led).led.alone || (!hosts_help_ && m.group == no_group))) return false;
  return m.group == no_group || of(m.group).finished() || of(m.group).now.left == 0;
}

bool group_table::others_live() const {
  return std::any_of(members_.begin() + 1, members_.end(),
                     [](member const& m) { return m.alive && !m.leaves; });
}

// The sink takes part of the root's power. Let N units take one second each at power 1, and s more in the
// sink: ranks of total power P finish after N (1 + s) / P. A root of power p spends N s on the sink, which
// leaves p - P s / (1 + s) for units.
double group_table::power(rank_id r) const {
  constexpr double least = 1.0 / 64;  // of a root that the sink keeps fully busy
  double const own = members_[r].power;
  if (r != 0) return own;
  double all = 0;
  for (auto const& m : members_) all += m.alive ? m.power : 0;
  return std::max(own * least, own - all * sink_cost_ / (1 + sink_cost_));
}

double group_table::power(std::span<rank_id const> ranks) const {
  double sum = 0;
  for (rank_id const r : ranks) sum += power(r);
  return sum;
}

void group_table::order(rank_id r, term_id ended, group_actions& out) const {
  auto const g = members_[r].group;
  group::serve m{.ended = ended};
  if (g != no_group) {
    if (of(g).host != no_rank) m.host = of(g).host;
    m.term = of(g).term;
  }
  out.push_back(group::send{r, m});
}

void group_table::move(rank_id r, int g, group_actions& out) {
  members_[r].group = g;
  order(r, 0, out);
}

void group_table::let_go(rank_id r, group_actions& out) {
  auto& m = members_[r];
  if (m.leaves || !is_to_leave(m.retires) || leads(r) != no_group) return;
  m.leaves = true;
  move(r, no_group, out);
  out.push_back(group::send{r, group::released{m.retires}});
}

}  // namespace skel::role
