#include "divide_and_conquer/role/solutions.hpp"

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
    // If the problem is everywhere, each rank of a group that is solved as a whole finds out by
    // itself.
    if (*have != s && c.from == placement::everywhere && whole_.contains(*have)) continue;
    for (auto const r : ranks) out.push_back(divide_act::send{r, divide_say::solution{*have}});
  }
}

}  // namespace skel::role
