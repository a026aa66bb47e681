#include "farm/role/losses.hpp"

#include <algorithm>

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

// --- stock_taking

namespace {
// Ticks without progress after which a round begins although no loss is known (a lossy wire).
constexpr unsigned round_patience = 8;
// After a loss, rounds follow each other after 1, 2, 4, ... ticks, up to this.
constexpr unsigned longest_pause = 64;
}  // namespace

void stock_taking::begin() {
  under_way_ = true;
  ticks_ = 0;
  ++round_;
  claimed_ = {};
  for (auto& r : ranks_) r = answer::heard;
}

void stock_taking::answered(rank_id rank, range_list const& held) {
  ranks_[rank] = answer::heard;
  for (auto const& r : held) claimed_.insert(r);
}

void stock_taking::lost(rank_id rank) {
  ranks_[rank] = ranks_[rank] == answer::due ? answer::none : answer::heard;
}

bool stock_taking::complete() const {
  return under_way_ && std::find(ranks_.begin(), ranks_.end(), answer::due) == ranks_.end();
}

void stock_taking::end() {
  under_way_ = false;
  claimed_ = {};
}

bool stock_taking::tick(bool any_lost) {
  if (under_way_ || any_lost) ++ticks_;
  // A round under way gets time, since answers may take longer than a tick.
  if (under_way_ && ticks_ < round_patience) return false;
  // Level-triggered: reacting once per loss would miss tasks that were on their way to the dead rank. These
  // are few and arrive soon, so the pauses grow; late ones are found when nothing else makes progress.
  bool const again = any_lost && (under_way_ || ticks_ >= pause_);
  if (++quiet_ticks_ < round_patience && !again) return false;
  quiet_ticks_ = 0;
  pause_ = std::min(pause_ * 2, longest_pause);
  return true;
}
}  // namespace skel::role
