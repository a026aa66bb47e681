// Ranges of tasks, which are numbered 0, 1, 2, ... All scheduling decisions concern ranges.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace skel {

using task_id = std::uint64_t;

/// `count` tasks: first, first + stride, first + 2 stride, ... A stride other than one keeps an
/// interleaved deal of millions of tasks as small as a contiguous one.
struct task_range {
  task_id first = 0;
  std::uint64_t count = 0;
  std::uint64_t stride = 1;

  [[nodiscard]] constexpr task_id operator[](std::uint64_t i) const { return first + i * stride; }
  [[nodiscard]] constexpr task_id last() const { return first + (count - 1) * stride; }
  [[nodiscard]] constexpr bool empty() const { return count == 0; }
  [[nodiscard]] constexpr bool contains(task_id id) const {
    return count > 0 && id >= first && id <= last() && (id - first) % stride == 0;
  }
  /// Splits off and returns the first n tasks (all if there are fewer).
  constexpr task_range take_front(std::uint64_t n) {
    n = n < count ? n : count;
    task_range const front{first, n, stride};
    first += n * stride;
    count -= n;
    return front;
  }
  /// Splits off and returns the last n tasks (all if there are fewer).
  constexpr task_range take_back(std::uint64_t n) {
    n = n < count ? n : count;
    count -= n;
    return {first + count * stride, n, stride};
  }
  friend auto operator<=>(task_range const&, task_range const&) = default;
};

using range_list = std::vector<task_range>;

[[nodiscard]] inline std::uint64_t count_tasks(range_list const& ranges) {
  std::uint64_t n = 0;
  for (auto const& r : ranges) n += r.count;
  return n;
}

/// Appends `range`. Joins it with the last range if one arithmetic sequence covers both.
inline void append(range_list& ranges, task_range range) {
  if (range.empty()) return;
  if (!ranges.empty()) {
    auto& back = ranges.back();
    if (range.first > back.last()) {
      std::uint64_t const gap = range.first - back.last();
      bool const back_fits = back.count == 1 || back.stride == gap;
      bool const range_fits = range.count == 1 || range.stride == gap;
      if (back_fits && range_fits) {
        back.count += range.count;
        back.stride = gap;
        return;
      }
    }
  }
  ranges.push_back(range);
}

}  // namespace skel
