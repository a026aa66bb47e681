#include "divide_and_conquer/role/arrivals.hpp"

namespace skel::role {

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
      out.push_back(divide_act::send{0, divide_say::reached{have && in_parts ? *have : alone(c.self)}});
    }
  }
  if (c.self != 0 || complete_) return;
  if (c.to == placement::on_root && !have) return;
  if (c.to != placement::on_root)
    for (rank_id r = 0; r < c.ranks; ++r)
      if (!reached_.contains(r) && (in_parts || !lost.is_lost(r))) return;
  complete_ = true;
  out.push_back(divide_act::complete{});
}

}  // namespace skel::role
