#include "ring_steal/role/thief.hpp"

#include <utility>

namespace skel::role {

void thief::ask_next(bound_key bound, steal_actions& out) {
  if (asked_ || asks_ >= arc) return;
  if (std::exchange(came_round_, false)) search_.begin();
  asked_ = search_.next();
  came_round_ = !asked_;
  asks_ = came_round_ ? arc : asks_ + 1;
  if (asked_) out.push_back(steal::send{*asked_, steal::ask{bound}});
}

void thief::on(rank_id from, steal::nothing const& m) {
  if (asked_ != from) return;
  asked_.reset();
  if (m.busy)
    search_.shortcut(from, *m.busy);
  else
    search_.idle(from);
}

void thief::succeeded(rank_id from) {
  ++steals_;
  if (asked_ == from) asked_.reset();
  asks_ = 0;
  came_round_ = true;  // the next search starts from scratch
  search_.works(from);
}

void thief::lost(rank_id rank) {
  search_.lost(rank);
  if (asked_ == rank) asked_.reset();
}

}  // namespace skel::role
