#include "multi_host/role/root.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace skel::role {

namespace {

// Ranks that wait for the answers of hosts.
std::uint64_t promised(group_table const& table) {
  std::uint64_t n = 0;
  for (auto const& g : table.all()) n += !g.finished() && table.hosted(g) ? g.now.promised : 0;
  return n;
}

void ask_to_split(group_table& table, int g, std::span<rank_id const> comers, group_actions& out) {
  auto& x = table.of(g);
  x.now.promised = comers.size();
  out.push_back(group::send{
      x.host, group::split{x.term, x.now.promised, table.power(comers), table.power(table.working_for(g))}});
}

// A rank for the suspects of a group. Prefers one that does not lead.
rank_id helper_for(group_table const& table, int g) {
  rank_id best = no_rank;
  for (rank_id r = 1; r < table.members().ranks(); ++r)
    if (table.free_to_move(r) && table.members()[r].group != g && r != table.of(g).host &&
        (best == no_rank || table.leads(best) != no_group))
      best = r;
  return best;
}

}  // namespace

// If shares may be split, ranks that still lead come first: they can help, but not lead another share.
std::vector<rank_id> rank_moves::free_ranks(group_table const& table) const {
  std::vector<rank_id> all;
  for (rank_id r = 0; r < table.members().ranks(); ++r)
    if (table.free_to_move(r)) all.push_back(r);
  bool const splits = splits_ && std::any_of(table.all().begin(), table.all().end(), [&](auto const& g) {
                        return table.takes_ranks(g) && !g.now.whole && g.now.left >= 2 * whole_unit;
                      });
  if (splits)
    std::stable_partition(all.begin(), all.end(), [&](rank_id r) { return table.leads(r) != no_group; });
  return all;
}

int rank_moves::orphans(group_table const& table) const {
  bool const wanted = std::any_of(table.all().begin(), table.all().end(),
                                  [&](auto const& g) { return table.takes_ranks(g); });
  if (!reassigns_ || !wanted || promised(table) > 0) return 0;
  int n = 0;
  for (rank_id r = 0; r < table.members().ranks(); ++r) {
    bool const may_wait = splits_ && table.leads(r) != no_group;  // until it can lead another share
    n += table.free_to_move(r) && !may_wait ? 1 : 0;
  }
  return n;
}

void rank_moves::move_free_ranks(group_table& table, bool may_split, group_actions& out) {
  if (!reassigns_) return;
  std::vector<std::uint64_t> weights;
  weights.reserve(table.all().size());
  for (auto const& g : table.all()) weights.push_back(table.takes_ranks(g) ? g.now.left : 0);
  auto movers = free_ranks(table);
  movers.resize(movers.size() - std::min<std::uint64_t>(movers.size(), promised(table)));
  auto leaders =
      std::count_if(movers.begin(), movers.end(), [&](rank_id r) { return table.leads(r) == no_group; });
  auto const parts = proportional(movers.size(), weights);
  std::size_t next = 0;
  for (int g = 0; g < table.groups(); ++g) {
    auto const n = parts[static_cast<std::size_t>(g)];
    if (n == 0 || table.of(g).now.promised > 0) continue;
    // A new group is no larger than the others. The remaining ranks wait, and divide what is left then.
    auto const most = std::min(n, static_cast<std::uint64_t>(std::max(1, table.of(g).ranks)));
    auto const comers = std::span(movers).last(most);
    if (may_split && splits(table, g, comers)) {
      if (leaders-- > 0) ask_to_split(table, g, comers, out);
      continue;
    }
    for (auto const end = next + n; next < end; ++next) {
      table.move(movers[next], g, out);
      ++reassigned_;
    }
  }
}

// --- splitting shares

// Judges by the root's record; the host decides.
bool rank_moves::splits(group_table const& table, int g, std::span<rank_id const> comers) const {
  auto const& x = table.of(g);
  if (!splits_ || x.now.whole || x.led.end < x.end) return false;
  return units_to_let_go({.left = static_cast<double>(x.now.left) / whole_unit,
                          .untouched = x.now.left / whole_unit,
                          .own_power = table.power(table.working_for(g)),
                          .ranks = comers.size(),
                          .power = table.power(comers)}) > 0;
}

void rank_moves::cut_share(group_table& table, group_hosts& hosts, int g, group::let_go const& m,
                           group_actions& out) {
  auto& x = table.of(g);
  auto const ranks = std::exchange(x.now.promised, 0);
  if (ranks == 0 || m.end <= x.first || m.end > x.end) {
    out.push_back(fail{fail::reason::protocol,
                       "rank " + std::to_string(x.host) + " gives up units that it was not asked for"});
    return;
  }
  x.now.left = m.left;
  x.now.whole = m.end == x.end;
  if (x.now.whole) return;
  table.cut(g, m.end);
  table.of(g).led.end = m.end;
  ++split_;
  found_group(table, hosts, ranks, out);
}

// For the latest share. If no rank is free, it waits for a host as if it had lost one.
void rank_moves::found_group(group_table& table, group_hosts& hosts, std::uint64_t most_ranks,
                             group_actions& out) {
  int const g = table.groups() - 1;
  auto movers = free_ranks(table);
  auto const weaker = [&](rank_id a, rank_id b) {
    bool const lead_a = table.leads(a) == no_group, lead_b = table.leads(b) == no_group;
    return lead_a != lead_b ? lead_b : table.power(a) < table.power(b);
  };
  auto const leader = std::max_element(movers.begin(), movers.end(), weaker);
  if (table.of(g).finished() || leader == movers.end() || table.leads(*leader) != no_group) return;
  if (hosts.suspects().contains(table.first_unrecorded(table.of(g)))) return;
  std::rotate(movers.begin(), leader, leader + 1);
  auto const others = promised(table);
  auto const n = std::min(most_ranks, movers.size() - std::min<std::uint64_t>(movers.size() - 1, others));
  for (auto const r : std::span(movers).first(n)) table.members()[r].group = g;
  table.of(g).ranks = static_cast<int>(n);
  reassigned_ += n;
  hosts.appoint(table, g, movers.front(), out);
}

// --- groups without members

// Suspects go to ranks other than the host, and to the root only if no other rank lives. If no such rank
// works for the group, an idle rank joins it. If there is none, the host processes the suspects itself.
void rank_moves::employ_for_suspects(group_table& table, bool may_move, group_actions& out) {
  auto const& members = table.members();
  for (int g = 0; g < table.groups(); ++g) {
    auto& x = table.of(g);
    if (x.finished() || !table.hosted(x)) continue;
    bool helped = x.now.left == 0 || (!x.now.suspects && !x.led.alone);
    for (rank_id r = 1; r < members.ranks() && !helped; ++r)
      helped = r != x.host && members[r].alive && members[r].group == g;
    if (rank_id const r = helped || !may_move ? no_rank : helper_for(table, g); r != no_rank) {
      table.move(r, g, out);
      ++reassigned_;
      helped = true;
    } else if (!helped && x.host == 0 && table.others_live()) {
      helped = true;  // later
    } else if (!helped && members[x.host].group != g) {
      table.move(x.host, g, out);
    }
    if (std::exchange(x.now.last_resort, !helped) == helped)
      out.push_back(group::send{x.host, group::last_resort{x.term, !helped}});
  }
}

// Its group's members are lost, or moved away before pieces came back.
void rank_moves::employ_hosts(group_table& table, group_actions& out) {
  for (int g = 0; g < table.groups(); ++g) {
    auto const& x = table.of(g);
    if (x.finished() || !table.hosted(x) || x.now.left == 0 || !table.working_for(g).empty()) continue;
    table.move(x.host, g, out);
    g = -1;  // from the first again: the host may have been the last member of another group
  }
}

// --- groups are formed

// Whether all powers are known, if they are measured, and all that is remembered.
bool group_root::ready() const {
  auto const& all = table_.members();
  return (!config_.measures_power && !config_.recalled) ||
         std::all_of(all.begin(), all.end(), [](auto const& m) { return m.hello || !m.alive; });
}

// Until the cost of units is known, groups are as small as possible, so that no rank waits for the trial.
void group_root::form(group_actions& out) {
  trial_ = config_.group_size == 0 && config_.ranks > 1 && config_.units > 1;
  divide(std::max(1U, config_.group_size));
  hosts_.begin(table_, plan_, config_.measures.preloads && !trial_, out);
  formed_ = true;
}

// Assigns all ranks and all units to groups.
void group_root::divide(unsigned size) {
  std::vector<double> power;
  power.reserve(static_cast<std::size_t>(config_.ranks));
  for (rank_id r = 0; r < config_.ranks; ++r) power.push_back(table_.power(r));
  plan_ = form_groups(power, size, 0, config_.units);
  table_.divide(plan_);
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
  auto before = table_.all();
  // The group that each rank leads, or led last, or works for.
  std::vector<int> of_rank;
  for (rank_id r = 0; r < config_.ranks; ++r) {
    int g = table_.members()[r].group;
    term_id latest = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (before[i].host == r && before[i].term > latest) {
        latest = before[i].term;
        g = static_cast<int>(i);
      }
    of_rank.push_back(g);
  }
  divide(size);
  for (int i = 0; i < table_.groups(); ++i) {
    auto& g = table_.of(i);
    rank_id const leader = plan_[static_cast<std::size_t>(i)].leader;
    auto const led = of_rank[static_cast<std::size_t>(leader)];
    if (led == no_group) continue;
    auto& its_own = before[static_cast<std::size_t>(led)];
    if (its_own.host != leader || its_own.first != g.first || !table_.hosted(its_own)) continue;
    g.host = its_own.host;
    g.term = std::exchange(its_own.term, 0);
    hosts_.lead(table_, i, out);
  }
  for (rank_id r = 0; r < config_.ranks; ++r) {
    auto const g = of_rank[static_cast<std::size_t>(r)];
    table_.order(r, g == no_group ? 0 : before[static_cast<std::size_t>(g)].term, out);
  }
}

void group_root::advance(group_actions& out) {
  if (complete()) {
    if (formed_) hosts_.maybe_go(table_, out);
    return;
  }
  if (!formed_) {
    if (!ready()) return;
    form(out);
  }
  // The root's share has nothing to measure.
  if (trial_ && table_.leads(0) == no_group) trial_ = false;
  hosts_.lead_on(table_, out);
  hosts_.appoint_where_missing(table_, out);
  for (rank_id r = 1; r < config_.ranks && !trial_; ++r) table_.let_go(r, out);
  if (!trial_) moves_.move_free_ranks(table_, hosts_.gone(), out);
  moves_.employ_for_suspects(table_, !trial_, out);
  rank_moves::employ_hosts(table_, out);
  hosts_.maybe_go(table_, out);
}

// --- events

void group_root::heard(rank_id rank, group_actions& out) {
  if (!table_.members().has(rank) || std::exchange(table_.members()[rank].alive, true)) return;
  advance(out);
}

void group_root::on(rank_id from, call_message const& m, group_actions& out) {
  auto const* const h = std::get_if<hello>(&m);
  if (h == nullptr || !table_.members().has(from)) return;
  auto& x = table_.members()[from];
  x.hello = true;
  if (config_.measures_power && !formed_ && h->power > 0) x.power = h->power;
  advance(out);
}

void group_root::on(rank_id from, group::left const& m, group_actions& out) {
  if (auto const g = table_.led_by(from, m.term)) {
    auto& x = table_.of(*g);
    x.now.left = m.amount + table_.left_behind(x);
    x.now.suspects = m.suspects;
  }
  advance(out);
}

void group_root::on(rank_id from, group::opens const& m, group_actions& /*out*/) {
  if (auto const g = table_.led_by(from, m.term)) {
    auto& x = table_.of(*g);
    x.led.opened = x.led.alone && m.unit == table_.first_unrecorded(x);
  }
}

void group_root::on(rank_id from, group::loaded const& m, group_actions& out) {
  if (auto const g = table_.led_by(from, m.term)) table_.of(*g).now.loaded = true;
  advance(out);
}

void group_root::on(rank_id from, group::let_go const& m, group_actions& out) {
  if (auto const g = table_.led_by(from, m.term)) moves_.cut_share(table_, hosts_, *g, m, out);
  advance(out);
}

void group_root::on(rank_id from, group::retires const& m, group_actions& out) {
  if (!table_.members().has(from)) return;
  auto& x = table_.members()[from];
  x.retires = m.number;
  x.leaves = false;
  advance(out);
}

// Counts in any term: the results of a host that was declared dead are valid.
void group_root::on(rank_id from, group::unit_done const& m, group_actions& out) {
  if (m.unit >= config_.units) {
    out.push_back(
        fail{fail::reason::protocol, "rank " + std::to_string(from) + " names units that do not exist"});
  } else if (table_.record(m.unit)) {
    recalled_ += m.term == 0 ? 1 : 0;
    hosts_.suspects().acquit(m.unit);
    out.push_back(group::record{m.unit});
  }
  advance(out);
}

void group_root::lost(rank_id rank, group_actions& out) {
  if (rank == 0 || !table_.members().has(rank)) return;
  hosts_.suspects().lost(rank);
  if (!std::exchange(table_.members()[rank].alive, false)) return;
  hosts_.suspects().add_units_of(rank, table_);
  advance(out);
}

void group_root::tick(group_actions& out) {
  auto& suspects = hosts_.suspects();
  suspects.tick();
  if (suspects.empty() || complete()) return;
  if (auto verdict = suspects.verdict()) out.push_back(tell_root{std::move(*verdict)});
  advance(out);
}

// --- queries

int group_root::orphans() const { return !formed_ || trial_ || complete() ? 0 : moves_.orphans(table_); }

std::string group_root::waits_for() const {
  std::string text;
  for (int g = 0; g < table_.groups(); ++g)
    if (auto const& x = table_.of(g); !x.finished())
      text += (text.empty() ? "units " : ", ") + std::to_string(table_.first_unrecorded(x)) + " ... " +
              std::to_string(x.end - 1) + " from rank " + std::to_string(x.host) + " with " +
              std::to_string(table_.working_for(g).size()) + " ranks";
  return formed_ ? text : "ranks to say hello";
}

}  // namespace skel::role
