#include "farm/role/stock.hpp"

#include <algorithm>

namespace skel::role {

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
