#include "divide_and_conquer/role/holdings.hpp"

namespace skel::role {

void held_solutions::push(divide_groups const& groups, divide_actions& out) {
  auto const& c = groups.config();
  auto const everybody = groups.everybody();
  for (auto s = alone(c.self); s != everybody; s = parent_of(everybody, s)) {
    if (pushed_.contains(s)) continue;
    auto const ranks = groups.waiting_for(s);
    if (ranks.empty()) continue;
    auto const have = with(s);
    if (!have) continue;
    pushed_.insert(s);
    // If the problem is everywhere, each rank of a group that is solved as a whole finds out by itself.
    if (*have != s && c.from == placement::everywhere && whole_.contains(*have)) continue;
    for (auto const r : ranks) out.push_back(divide::send{r, divide::solution{*have}});
  }
}

void arrivals::check(divide_groups const& groups, held_solutions const& solutions,
                     held_problems const& problems, membership const& lost, divide_actions& out) {
  auto const& c = groups.config();
  bool const in_parts = c.to == placement::in_parts;
  auto const have = solutions.with(groups.target());
  if (!reported_ && c.to != placement::on_root) {
    auto const p = problems.around(alone(c.self));
    bool const nothing_to_do =
        in_parts && p && p->at == held_problems::state::undivided && !groups.makes(p->group);
    if (have || nothing_to_do) {
      reported_ = true;
      out.push_back(divide::send{0, divide::reached{have && in_parts ? *have : alone(c.self)}});
    }
  }
  if (c.self != 0 || complete_) return;
  if (c.to == placement::on_root && !have) return;
  if (c.to != placement::on_root)
    for (rank_id r = 0; r < c.ranks; ++r)
      if (!reached_.contains(r) && (in_parts || !lost.is_lost(r))) return;
  complete_ = true;
  out.push_back(close{{.tasks = static_cast<std::uint64_t>(c.ranks)}});
}

}  // namespace skel::role
