// The ranks of a context: their numbers in the context and in the transport.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace skel::detail {

/// A regular value. Skeletons and users see ranks 0 ... size() - 1; only the engine sees the
/// transport's numbers.
class team {
 public:
  /// All ranks of the transport.
  explicit team(int wire_size) : size_(wire_size), all_(true) {}
  /// These ranks: rank i of the team is rank `wire[i]` of the transport.
  explicit team(std::vector<int> wire) : size_(static_cast<int>(wire.size())), wire_(std::move(wire)) {
    for (std::size_t i = 0; i < wire_.size(); ++i) by_wire_.emplace_back(wire_[i], static_cast<int>(i));
    std::sort(by_wire_.begin(), by_wire_.end());
  }

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int to_wire(int rank) const { return all_ ? rank : wire_[static_cast<std::size_t>(rank)]; }
  static constexpr int none = -1;
  /// The rank in the team; `none` if it is not in it.
  [[nodiscard]] int from_wire(int rank) const {
    if (all_) return rank < size() ? rank : none;
    auto const at = std::lower_bound(by_wire_.begin(), by_wire_.end(), std::pair{rank, 0});
    return at != by_wire_.end() && at->first == rank ? at->second : none;
  }
  friend bool operator==(team const&, team const&) = default;

 private:
  int size_;
  std::vector<int> wire_;                     // unused if all_
  std::vector<std::pair<int, int>> by_wire_;  // sorted; unused if all_
  bool all_ = false;
};

}  // namespace skel::detail
