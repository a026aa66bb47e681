#include "audit_book.hpp"

#include <algorithm>
#include <iterator>

namespace skel::detail {

std::vector<role::task_version> audit_book::versions(result_batch const& batch,
                                                     function_reference<bool(task_id)> const& compares) {
  std::vector<role::task_version> found;
  auto rest = batch.packed.bytes();
  std::uint64_t index = 0, passed = 0;  // results before this one, and those that were skipped
  for (auto const& range : batch.ranges)
    for (std::uint64_t i = 0; i < range.count; ++i, ++index) {
      if (!compares(range[i])) continue;
      std::vector<std::byte> bytes;
      if (batch.local) {
        work_.pack_local(1, index, *batch.local, bytes);
      } else {
        work_.skip_packed(index - passed, rest);
        auto const from = rest;
        work_.skip_packed(1, rest);
        bytes.assign(from.begin(), from.end() - static_cast<std::ptrdiff_t>(rest.size()));
        passed = index + 1;
      }
      auto compared = work_.compared(bytes);
      auto& all = versions_[range[i]];
      auto const at = std::find_if(all.begin(), all.end(),
                                   [&](known_version const& v) { return v.compared == compared; });
      found.push_back({range[i], static_cast<std::uint64_t>(at - all.begin())});
      if (at == all.end()) all.push_back({std::move(compared), std::move(bytes)});
    }
  return found;
}

result_batch audit_book::accept(task_id task, std::uint64_t version) {
  auto const at = versions_.find(task);
  result_batch one;
  one.ranges = {{task, 1, 1}};
  one.packed = transport::packet::received(std::move(at->second.at(version).packed));
  versions_.erase(at);
  return one;
}

void audit_book::discard(int rank) {
  for (auto& h : held_[rank])
    if (h.batch.is_packed()) engine_.wires().recycle(std::move(h.batch.packed).release());
  held_.erase(rank);
}

std::vector<audit_book::held_results> audit_book::take_released() {
  std::vector<held_results> all;
  for (int const rank : std::exchange(released_, {})) {
    auto& held = held_[rank];
    std::move(held.begin(), held.end(), std::back_inserter(all));
    held.clear();
  }
  return all;
}

}  // namespace skel::detail
