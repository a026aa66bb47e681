#include "divide_and_conquer/role/groups.hpp"

namespace skel::role {

rank_span divide_groups::led() const {
  auto s = everybody();
  while (s.first != config_.self) s = half_with(s, alone(config_.self));
  return s;
}

rank_span divide_groups::target() const {
  if (config_.to == placement::everywhere) return everybody();
  return config_.to == placement::on_root ? led() : alone(config_.self);
}

bool divide_groups::makes(rank_span s) const {
  if (config_.to == placement::everywhere) return s.contains(config_.self);
  return s.first == config_.self;
}

bool divide_groups::divides(rank_span s) const {
  return config_.from == placement::everywhere ? s.contains(config_.self) : s.first == config_.self;
}

bool divide_groups::works_on(rank_id rank, group_work work) const {
  bool const all =
      config_.to == placement::everywhere || (config_.from == placement::everywhere && !work.combine);
  return all ? work.group.contains(rank) : work.group.first == rank;
}

std::vector<rank_id> divide_groups::waiting_for(rank_span s) const {
  std::vector<rank_id> ranks;
  if (s == everybody() || config_.to == placement::in_parts) return ranks;
  if (config_.to == placement::on_root) {
    if (s == led()) ranks.push_back(parent_of(everybody(), s).first);
    return ranks;
  }
  auto const other = sibling_of(everybody(), s);
  for (rank_id r = other.first; r < other.last; ++r)
    if (partner_of(other, r, s) == config_.self) ranks.push_back(r);
  return ranks;
}

std::optional<rank_id> divide_groups::source_of_solution(rank_span s, membership const& lost) const {
  if (config_.to != placement::everywhere) {
    if (lost.is_lost(s.first)) return std::nullopt;
    return s.first;
  }
  auto const sibling = sibling_of(everybody(), s);
  int const place =
      sibling.contains(config_.self) ? partner_of(sibling, config_.self, s) - s.first : config_.self;
  for (int i = 0; i < s.size(); ++i) {
    rank_id const r = s.first + (place + i) % s.size();
    if (!lost.is_lost(r)) return r;
  }
  return std::nullopt;
}

bool divide_groups::solution_comes_unasked(rank_span s, rank_id from) const {
  auto const parent = parent_of(everybody(), s);
  if (config_.to != placement::everywhere) return parent.first == config_.self;
  return parent.contains(config_.self) && from == partner_of(sibling_of(everybody(), s), config_.self, s);
}

rank_id divide_groups::source_of_problem(rank_span s, membership const& lost) const {
  do s = parent_of(everybody(), s);
  while (s.first == config_.self || lost.is_lost(s.first));  // ends at the root, which is never lost
  return s.first;
}

}  // namespace skel::role
