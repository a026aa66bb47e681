// Moves ranks without work: they help another group, or lead the end of its share.
#include <algorithm>
#include <cmath>
#include <utility>

#include "multi_host/role/root.hpp"

namespace skel::role {

namespace act = group_act;

// If shares may be split, ranks that still lead come first: they can help, but not lead another share.
std::vector<rank_id> group_root::free_ranks() const {
  std::vector<rank_id> all;
  for (rank_id r = 0; r < config_.ranks; ++r)
    if (free_to_move(r)) all.push_back(r);
  bool const splits = config_.splits && std::any_of(groups_.begin(), groups_.end(), [&](group const& g) {
                        return takes_ranks(g) && !g.whole && g.left >= 2 * whole_unit;
                      });
  if (splits) std::stable_partition(all.begin(), all.end(), [&](rank_id r) { return leads(r) != none; });
  return all;
}

std::uint64_t group_root::promised() const {
  std::uint64_t n = 0;
  for (auto const& g : groups_) n += !finished(g) && hosted(g) ? g.promised : 0;
  return n;
}

int group_root::orphans() const {
  if (!formed_ || trial_ || !config_.reassigns || complete() || promised() > 0) return 0;
  bool const wanted =
      std::any_of(groups_.begin(), groups_.end(), [&](group const& g) { return takes_ranks(g); });
  int n = 0;
  for (rank_id r = 0; r < config_.ranks && wanted; ++r) {
    bool const may_wait = config_.splits && leads(r) != none;  // until it can lead another share
    n += free_to_move(r) && !may_wait ? 1 : 0;
  }
  return n;
}

void group_root::move_free_ranks(group_actions& out) {
  if (!config_.reassigns || trial_) return;
  std::vector<std::uint64_t> weights;
  weights.reserve(groups_.size());
  for (auto const& g : groups_) weights.push_back(takes_ranks(g) ? g.left : 0);
  auto movers = free_ranks();
  movers.resize(movers.size() - std::min<std::uint64_t>(movers.size(), promised()));
  auto leaders = std::count_if(movers.begin(), movers.end(), [&](rank_id r) { return leads(r) == none; });
  auto const parts = proportional(movers.size(), weights);
  std::size_t next = 0;
  for (int g = 0; g < groups(); ++g) {
    auto const n = parts[static_cast<std::size_t>(g)];
    if (n == 0 || of(g).promised > 0) continue;
    // A new group is no larger than the others. The remaining ranks wait, and divide what is left then.
    auto const most = std::min(n, static_cast<std::uint64_t>(std::max(1, of(g).ranks)));
    auto const comers = std::span(movers).last(most);
    if (may_split(g, comers)) {
      if (leaders-- > 0) ask_to_split(g, comers, out);
      continue;
    }
    for (auto const end = next + n; next < end; ++next) {
      members_[movers[next]].group = g;
      ++reassigned_;
      order(movers[next], 0, out);
    }
  }
}

// --- splitting shares

// The sink takes part of the root's power. Let N units take one second each at power 1, and s more in the
// sink: ranks of total power P finish after N (1 + s) / P. A root of power p spends N s on the sink, which
// leaves p - P s / (1 + s) for units.
double group_root::power_of(rank_id r) const {
  constexpr double least = 1.0 / 64;  // of a root that the sink keeps fully busy
  double const own = members_[r].power;
  if (r != 0) return own;
  double all = 0;
  for (auto const& m : members_) all += m.alive ? m.power : 0;
  return std::max(own * least, own - all * config_.sink_cost / (1 + config_.sink_cost));
}

double group_root::power_of(std::span<rank_id const> ranks) const {
  double sum = 0;
  for (rank_id const r : ranks) sum += power_of(r);
  return sum;
}

double group_root::power_at(int g) const {
  double sum = 0;
  for (rank_id r = 0; r < config_.ranks; ++r)
    sum += members_[r].alive && members_[r].group == g ? power_of(r) : 0;
  return sum;
}

// Judges by the root's record; the host decides.
bool group_root::may_split(int g, std::span<rank_id const> comers) const {
  auto const& x = of(g);
  if (!config_.splits || !gone_ || x.whole || x.led_to < x.end) return false;
  return units_to_let_go({.left = static_cast<double>(x.left) / whole_unit,
                          .untouched = x.left / whole_unit,
                          .own_power = power_at(g),
                          .ranks = comers.size(),
                          .power = power_of(comers)}) > 0;
}

void group_root::ask_to_split(int g, std::span<rank_id const> comers, group_actions& out) {
  auto& x = of(g);
  x.promised = comers.size();
  out.push_back(act::send{x.host, group_msg::split{x.term, x.promised, power_of(comers), power_at(g)}});
}

void group_root::on(rank_id from, group_msg::let_go const& m, group_actions& out) {
  if (auto* const g = led_by(from, m.term)) cut_share(static_cast<int>(g - groups_.data()), m, out);
  advance(out);
}

void group_root::cut_share(int g, group_msg::let_go const& m, group_actions& out) {
  auto& x = of(g);
  auto const ranks = std::exchange(x.promised, 0);
  if (ranks == 0 || m.end <= x.first || m.end > x.end) {
    out.push_back(fail{fail::reason::protocol,
                       "rank " + std::to_string(x.host) + " gives up units that it was not asked for"});
    return;
  }
  x.left = m.left;
  x.whole = m.end == x.end;
  if (x.whole) return;
  cut(g, m.end);
  of(g).led_to = m.end;
  ++split_;
  found_group(groups() - 1, ranks, out);
}

// If no rank is free, the share waits for a host as if it had lost one.
void group_root::found_group(int g, std::uint64_t most_ranks, group_actions& out) {
  auto movers = free_ranks();
  auto const weaker = [&](rank_id a, rank_id b) {
    bool const lead_a = leads(a) == none, lead_b = leads(b) == none;
    return lead_a != lead_b ? lead_b : power_of(a) < power_of(b);
  };
  auto const leader = std::max_element(movers.begin(), movers.end(), weaker);
  if (finished(of(g)) || leader == movers.end() || leads(*leader) != none) return;
  if (suspects_.contains(first_unrecorded(of(g)))) return;
  std::rotate(movers.begin(), leader, leader + 1);
  auto const others = promised();
  auto const n = std::min(most_ranks, movers.size() - std::min<std::uint64_t>(movers.size() - 1, others));
  for (auto const r : std::span(movers).first(n)) members_[r].group = g;
  of(g).ranks = static_cast<int>(n);
  reassigned_ += n;
  appoint(g, movers.front(), out);
}

}  // namespace skel::role
