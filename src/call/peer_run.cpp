#include "peer_run.hpp"

#include "base/format.hpp"

namespace skel::detail {

void peer_run::send_all(role::call_messages& list) {
  for (auto& m : std::exchange(list, {})) send_call(m.to, std::move(m.what));
  deliver_own();
}

void peer_run::after_tick(double t) {
  check_stop();
  if (display_) show_progress(false);
  if (is_root()) watch(t);  // only the root receives progress of the others
}

std::vector<int> peer_run::lost_ranks() const { return roll_ ? roll_->lost_ranks() : std::vector<int>{}; }

std::string peer_run::waits_to_stop() const {
  if (!roll_ || !roll_->stopping()) return {};
  return detail::format("; root: stopping, waiting for ranks [{}]", detail::join(roll_->not_stopped(), " "));
}

}  // namespace skel::detail
