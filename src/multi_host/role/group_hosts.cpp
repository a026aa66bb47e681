#include "multi_host/role/group_hosts.hpp"

#include <string>
#include <utility>

namespace skel::role {

// A host opens units in order, and no more than read_ahead + 2.
void unit_suspects::add_units_of(rank_id host, group_table const& table) {
  if (!on_) return;
  for (auto const& g : table.all()) {
    if (g.host != host || g.finished()) continue;
    if (g.led.alone && !g.led.opened) {
      units_.take_back(host);  // the host had not opened it
      continue;
    }
    std::uint64_t open = g.led.alone ? 1 : most_open_;
    for (auto u = table.first_unrecorded(g); u < g.led.end && open > 0; ++u) {
      if (table.has_result(u)) continue;
      units_.add(u, host, g.led.alone);
      --open;
    }
  }
}

// Hosts know the pieces, so their verdicts take precedence.
std::optional<blamed> unit_suspects::verdict() {
  auto verdict = units_.tick();
  verdict_ticks_ = verdict ? verdict_ticks_ + 1 : 0;
  if (!verdict || verdict_ticks_ <= blame_patience) return std::nullopt;
  return blamed{verdict->work, std::move(verdict->ranks), verdict->more,
                "reading unit " + std::to_string(verdict->work) + " or one of its pieces"};
}

void group_hosts::begin(group_table& table, std::vector<group_plan> const& plan, bool waits,
                        group_actions& out) {
  gone_ = !waits || plan.empty();
  for (int g = 0; g < table.groups(); ++g) {
    auto const& p = plan[static_cast<std::size_t>(g)];
    table.of(g).host = p.leader;
    table.of(g).term = ++terms_;
    lead(table, g, out);
    for (int r = p.first_rank; r < p.first_rank + p.ranks; ++r) table.order(r, 0, out);
  }
  if (gone_) out.push_back(group::started{});
}

void group_hosts::lead(group_table& table, int g, group_actions& out) {
  auto& x = table.of(g);
  auto const first = table.first_unrecorded(x);
  x.led.alone = suspects_.contains(first);
  x.led.opened = false;
  x.led.end = x.led.alone ? first + 1 : x.end;
  for (auto u = first; u < x.led.end; ++u)
    if (!x.led.alone && (suspects_.contains(u) || (skips_ && table.has_result(u)))) x.led.end = u;
  if (x.led.alone) suspects_.given(first, x.host);
  out.push_back(group::send{x.host, group::lead{x.term,
                                                {first, x.led.end, x.led.alone, x.led.end < x.end},
                                                static_cast<std::uint64_t>(x.ranks),
                                                !gone_}});
}

void group_hosts::lead_on(group_table& table, group_actions& out) {
  for (int g = 0; g < table.groups(); ++g) {
    auto const& x = table.of(g);
    if (x.finished() || !table.hosted(x) || x.led.end >= x.end) continue;
    auto const first = table.first_unrecorded(x);
    if (first < x.led.end || suspects_.blames(first)) continue;
    if (x.host == 0 && suspects_.contains(first) && table.others_live())
      table.cut(g, first);
    else
      lead(table, g, out);
  }
}

void group_hosts::appoint_where_missing(group_table& table, group_actions& out) {
  for (int g = 0; g < table.groups(); ++g) {
    auto const& x = table.of(g);
    if (x.finished() || table.hosted(x) || suspects_.blames(table.first_unrecorded(x))) continue;
    // If every rank leads, the first to finish takes the share. A host that was declared dead and is alive
    // goes on.
    if (rank_id const r = candidate(table, g); r != no_rank) appoint(table, g, r, out);
  }
}

// Prefers a rank of the group, then one without work, then one of the largest group. The root leads no unit
// that was open on lost hosts while other ranks live.
rank_id group_hosts::candidate(group_table const& table, int g) const {
  rank_id best = no_rank;
  int best_class = 0;
  int const ranks = table.members().ranks();
  bool const spare_root = suspects_.contains(table.first_unrecorded(table.of(g))) && table.others_live();
  for (rank_id r = spare_root ? 1 : 0; r < ranks; ++r) {
    auto const& m = table.members()[r];
    if (!m.alive || m.leaves || table.leads(r) != no_group) continue;
    int const now = table.members()[r].group;
    int const its_class = now == g                ? ranks + 2
                          : table.free_to_move(r) ? ranks + 1
                                                  : static_cast<int>(table.working_for(now).size());
    if (best != no_rank && its_class <= best_class) continue;
    best = r;
    best_class = its_class;
  }
  return best;
}

void group_hosts::appoint(group_table& table, int g, rank_id r, group_actions& out) {
  auto& x = table.of(g);
  rank_id const before = x.host;
  term_id const ended = x.term;
  x.host = r;
  x.term = ++terms_;
  x.now = {.left = x.missing()};
  if (before != no_rank) ++taken_over_;
  lead(table, g, out);
  auto& members = table.members();
  members[r].group = table.hosts_help() ? g : no_group;
  for (rank_id q = 0; q < members.ranks(); ++q)
    if (members[q].group == g || q == before || q == r) table.order(q, ended, out);
}

void group_hosts::maybe_go(group_table const& table, group_actions& out) {
  if (gone_) return;
  for (auto const& g : table.all())
    if (!g.finished() && table.hosted(g) && !g.now.loaded) return;
  gone_ = true;
  out.push_back(group::started{});
  for (auto const& g : table.all())
    if (g.host != no_rank) out.push_back(group::send{g.host, group::go{g.term}});
}

}  // namespace skel::role
