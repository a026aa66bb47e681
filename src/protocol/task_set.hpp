// A set of task numbers that is dense from below, such as the recorded or the claimed tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <tuple>

#include "skel/detail/task_range.hpp"

namespace skel {

/// Stores one bit per task between the lowest missing and the highest present task; full words
/// below are dropped. A stream of ten million tasks that ends roughly in order therefore takes a
/// few words.
class task_set {
 public:
  [[nodiscard]] bool contains(task_id id) const;
  /// Inserts one task. Returns false if it was already present.
  bool insert(task_id id);
  /// Inserts a range. Returns the sub-ranges that were new, in order.
  range_list insert(task_range const& range);
  /// Removes one task, if it is present.
  void erase(task_id id);
  /// Whether any task of the range is present.
  [[nodiscard]] bool intersects(task_range const& range) const;
  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// The lowest missing task: all tasks below it are present.
  [[nodiscard]] task_id low_water() const;
  /// The tasks of [first, last) that are in neither this set nor `other`.
  [[nodiscard]] range_list missing(task_id first, task_id last, task_set const& other) const;
  [[nodiscard]] std::size_t memory_words() const { return words_.size(); }
  friend bool operator==(task_set const&, task_set const&) = default;
  auto fields() const { return std::tie(base_, count_, words_); }

 private:
  [[nodiscard]] std::uint64_t word(std::uint64_t index) const;
  [[nodiscard]] std::uint64_t words_end() const { return base_ + words_.size(); }
  void drop_full_words();

  std::uint64_t base_ = 0;  // number of dropped full words
  std::uint64_t count_ = 0;
  std::deque<std::uint64_t> words_;
};

}  // namespace skel
