#include "multi_host/role/root.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

namespace act = group_act;

// --- groups are formed

// Whether all powers are known, if they are measured.
bool group_root::ready() const {
  auto const& all = table_.members();
  return !config_.measures_power ||
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

void group_root::on(rank_id from, group_msg::left const& m, group_actions& out) {
  if (auto const g = table_.led_by(from, m.term)) {
    auto& x = table_.of(*g);
    x.now.left = m.amount + (x.end - x.led.end) * whole_unit;
    x.now.suspects = m.suspects;
  }
  advance(out);
}

void group_root::on(rank_id from, group_msg::opens const& m, group_actions& /*out*/) {
  if (auto const g = table_.led_by(from, m.term)) {
    auto& x = table_.of(*g);
    x.led.opened = x.led.alone && m.unit == table_.first_unrecorded(x);
  }
}

void group_root::on(rank_id from, group_msg::loaded const& m, group_actions& out) {
  if (auto const g = table_.led_by(from, m.term)) table_.of(*g).now.loaded = true;
  advance(out);
}

void group_root::on(rank_id from, group_msg::let_go const& m, group_actions& out) {
  if (auto const g = table_.led_by(from, m.term)) moves_.cut_share(table_, hosts_, *g, m, out);
  advance(out);
}

// Counts in any term: the results of a host that was declared dead are valid.
void group_root::on(rank_id from, group_msg::unit_done const& m, group_actions& out) {
  if (m.unit >= config_.units) {
    out.push_back(
        fail{fail::reason::protocol, "rank " + std::to_string(from) + " names units that do not exist"});
  } else if (table_.record(m.unit)) {
    hosts_.suspects().acquit(m.unit);
    out.push_back(act::record{m.unit});
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
              std::to_string(table_.workers(g).size()) + " ranks";
  return formed_ ? text : "ranks to say hello";
}

}  // namespace skel::role
