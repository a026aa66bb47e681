#include "unit_sink.hpp"

#include <utility>

#include "call/quantum.hpp"
#include "call/user_code.hpp"

namespace skel::detail {

void unit_sink::push(std::uint64_t unit, std::vector<labelled_piece>& results) {
  auto& all = waiting_[unit];
  for (auto& p : results) all.push_back(std::move(p.held));
}

std::optional<unit_sink::entry> unit_sink::next() {
  if (waiting_.empty() || stopped_) return {};
  if (in_order_ && waiting_.begin()->first != next_) return {};
  auto node = waiting_.extract(waiting_.begin());
  return entry{node.key(), std::move(node.mapped())};
}

void unit_sink::received(double seconds, bool failed, bool goes_on) {
  seconds_ += seconds;
  ++next_;
  sunk_ += failed ? 0 : 1;
  stopped_ = failed || !goes_on;
}

bool unit_sink::give(std::uint64_t unit, unit_of_results& results) {
  for (std::uint64_t p = 0; p < results.size(); ++p) {
    auto& held = results[p];
    if (!held.object) held.object = work_.unpack_result(held.packed(), held.whole);
    if (!work_.sink(unit, p, *held.object)) return false;
    held = {};  // the last reference to a message releases its memory for the next one
    not_of_the_user([&] { engine_.driver().try_progress(slice_seconds); });
  }
  return true;
}

}  // namespace skel::detail
