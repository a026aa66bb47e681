#include "multi_host/role/unit_suspects.hpp"

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

void unit_suspects::tick() {
  for (rank_id const r : lost_.tick()) units_.heard(r);
}

// Hosts know the pieces, so their verdicts take precedence.
std::optional<blamed> unit_suspects::verdict() {
  auto verdict = units_.tick();
  verdict_ticks_ = verdict ? verdict_ticks_ + 1 : 0;
  if (!verdict || verdict_ticks_ <= blame_patience) return std::nullopt;
  return blamed{verdict->work, std::move(verdict->ranks), verdict->more,
                "reading unit " + std::to_string(verdict->work) + " or one of its pieces"};
}

}  // namespace skel::role
