#include "farm/role/losses.hpp"

namespace skel::role {

farm_losses::farm_losses(farm_root_config const& config)
    : root_(config.root),
      blames_(config.losses.most > 0),
      directs_(config.directs()),
      roots_(config.losses.former_roots),
      stock_(config.ranks),
      begun_(config.ranks),
      suspects_(config.losses.most) {}

void farm_losses::claim(range_list const& tasks) {
  if (!stock_.under_way()) return;
  for (auto const& r : tasks) stock_.claim(r);
}

void farm_losses::lost(rank_id rank) {
  stock_.lost(rank);
  stock_.again_soon();
}

task_set farm_losses::suspect_roots(task_progress const& tasks) {
  task_set suspected;
  if (!blames_) return suspected;
  for (auto const& root : roots_) {
    if (root.from_outside) suspects_.from_outside(root.name);
    for (auto const& r : tasks.not_recorded(root.running))
      for (std::uint64_t k = 0; k < r.count; ++k) {
        suspected.insert(r[k]);
        suspects_.add(r[k], root.name, false);
      }
  }
  return suspected;
}

void farm_losses::take_stock(compute_ranks const& ranks, farm_actions& out) {
  stock_.begin();
  for (rank_id r = 0; r < ranks.ranks(); ++r) {
    if (!ranks.alive(r)) stock_.gone(r);
    if (!ranks.may_hold(r)) continue;
    stock_.asked(r);
    out.push_back(farm::send{r, farm::take_stock{stock_.round(), !ranks.said_hello(r)}});
  }
}

farm_losses::found farm_losses::finish_round(task_progress const& tasks, compute_ranks const& ranks) {
  found f;
  f.suspects = find_suspects(tasks, ranks);
  f.missing = tasks.missing(stock_.claimed());
  stock_.end();
  if (!f.missing.empty()) stock_.again_soon();  // more may be missing
  return f;
}

// Suspects are the tasks that are neither recorded nor claimed and were running on a rank that was lost
// before the round. They are given one by one, so the round claims them.
std::uint64_t farm_losses::find_suspects(task_progress const& tasks, compute_ranks const& ranks) {
  auto const missing = [&](task_id id) {
    return !tasks.recorded().contains(id) && !stock_.claimed().contains(id);
  };
  auto const before = suspects_.not_held().size();
  for (rank_id rank = 0; rank < ranks.ranks(); ++rank) {
    if (!may_blame(rank) || !stock_.claims_nothing(rank) || ranks.alive(rank)) continue;
    auto const running = begun_.take(rank);
    for (auto const& r : running)
      for (std::uint64_t k = 0; k < r.count; ++k)
        if (missing(r[k])) suspects_.add(r[k], rank, running.size() == 1);
  }
  suspects_.take_back_if(missing);
  auto const to_give = suspects_.not_held();
  for (task_id const id : to_give) stock_.claim({id, 1, 1});
  return to_give.size() - before;
}

}  // namespace skel::role
