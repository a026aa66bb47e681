// Units that were open on lost hosts, and pieces that were on lost workers.
#include <algorithm>
#include <string>
#include <utility>

#include "multi_host/role/root.hpp"

namespace skel::role {

namespace act = group_act;

// A host opens units in order, and no more than read_ahead + 2.
void group_root::suspect_units_of(rank_id host) {
  if (config_.most_losses == 0) return;
  for (auto const& g : groups_) {
    if (g.host != host || finished(g)) continue;
    if (g.alone && !g.opened) {
      suspects_.take_back(host);  // the host had not opened it
      continue;
    }
    std::uint64_t open = g.alone ? 1 : config_.read_ahead + std::uint64_t{2};
    for (auto u = first_unrecorded(g); u < g.led_to && open > 0; ++u) {
      if (recorded_.contains(u)) continue;
      suspects_.add(u, host, g.alone);
      --open;
    }
  }
}

// Suspects go to ranks other than the host, and to the root only if no other rank lives. If no such rank
// works for the group, an idle rank joins it. If there is none, the host processes the suspects itself.
void group_root::employ_for_suspects(group_actions& out) {
  for (int g = 0; g < groups(); ++g) {
    if (finished(of(g)) || !hosted(of(g))) continue;
    bool const needed = of(g).left > 0 && (of(g).suspects || of(g).alone);
    rank_id const host = of(g).host;
    bool helped = !needed;
    for (rank_id r = 1; r < config_.ranks && !helped; ++r)
      helped = r != host && members_[r].alive && members_[r].group == g;
    if (rank_id const r = helped || trial_ ? none : helper_for(g); r != none) {
      members_[r].group = g;
      ++reassigned_;
      order(r, 0, out);
      helped = true;
    } else if (!helped && host == 0 && others_live()) {
      helped = true;  // later
    } else if (!helped && members_[host].group != g) {
      members_[host].group = g;
      order(host, 0, out);
    }
    allow_last_resort(of(g), !helped, out);
  }
}

// Prefers a rank that does not lead.
rank_id group_root::helper_for(int g) const {
  rank_id best = none;
  for (rank_id r = 1; r < config_.ranks; ++r)
    if (free_to_move(r) && members_[r].group != g && r != of(g).host && (best == none || leads(best) != none))
      best = r;
  return best;
}

void group_root::allow_last_resort(group& g, bool allowed, group_actions& out) const {
  if (std::exchange(g.last_resort, allowed) == allowed) return;
  out.push_back(act::send{g.host, group_msg::last_resort{g.term, allowed}});
}

// Hosts know the pieces, so their verdicts take precedence.
void group_root::tick(group_actions& out) {
  for (rank_id const r : lost_.tick()) suspects_.heard(r);
  if (suspects_.empty() || complete()) return;
  auto verdict = suspects_.tick();
  verdict_ticks_ = verdict ? verdict_ticks_ + 1 : 0;
  if (verdict && verdict_ticks_ > blame_patience)
    out.push_back(
        tell_root{blamed{verdict->work, std::move(verdict->ranks), verdict->more,
                         "reading unit " + std::to_string(verdict->work) + " or one of its pieces"}});
  advance(out);
}

}  // namespace skel::role
