// Results come back to a host, and leave as whole units.
#include "multi_host/role/host.hpp"

namespace skel::role {

namespace act = group_act;

void group_host::on(rank_id from, group_msg::returned const& m, group_actions& out) {
  if (!in(m.term)) return;
  for (auto const& run : m.runs) {
    auto const at = units_.find(run.unit);
    if (at == units_.end()) continue;  // another rank was first with all of it
    auto& u = at->second;
    if (run.first > u.pieces.size() || run.count > u.pieces.size() - run.first) {
      out.push_back(fail{fail::reason::protocol,
                         "rank " + std::to_string(from) + " speaks of pieces that do not exist"});
      return;
    }
    piece_run fresh{run.unit, run.first, 0};
    for (auto p = run.first; p < run.first + run.count; ++p) {
      if (u.pieces[p] == recorded) {
        if (fresh.count > 0) out.push_back(act::keep{fresh});
        fresh = {run.unit, p + 1, 0};
        continue;
      }
      if (u.pieces[p] == in_pool) --u.pooled;
      u.pieces[p] = recorded;
      --u.missing;
      ++fresh.count;
    }
    if (fresh.count > 0) out.push_back(act::keep{fresh});
    maybe_deliver(run.unit, out);
  }
  if (m.threads > 0)
    asks(term_, {from, m.threads, m.most}, out);
  else
    advance(out);
}

void group_host::maybe_deliver(std::uint64_t unit, group_actions& out) {
  auto& u = units_.at(unit);
  if (!u.whole || u.missing > 0 || u.leaving) return;
  u.leaving = true;
  out.push_back(act::deliver{term_, unit});
}

void group_host::delivered(term_id term, std::uint64_t unit, group_actions& out) {
  if (!active_ || term != term_ || units_.erase(unit) == 0) return;
  out.push_back(act::send{config_.root, group_msg::unit_done{term_, unit}});
  advance(out);
}

}  // namespace skel::role
