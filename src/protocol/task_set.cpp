#include "task_set.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace skel {

namespace {
constexpr std::uint64_t all_ones = ~std::uint64_t{0};
}

std::uint64_t task_set::word(std::uint64_t index) const {
  if (index < base_) return all_ones;
  index -= base_;
  return index < words_.size() ? words_[index] : 0;
}

void task_set::drop_full_words() {
  while (!words_.empty() && words_.front() == all_ones) {
    words_.pop_front();
    ++base_;
  }
}

bool task_set::contains(task_id id) const { return (word(id / 64) >> (id % 64)) & 1U; }

bool task_set::insert(task_id id) {
  std::uint64_t const index = id / 64;
  if (index < base_) return false;
  if (index - base_ >= words_.size()) words_.resize(index - base_ + 1);
  std::uint64_t const bit = std::uint64_t{1} << (id % 64);
  auto& w = words_[index - base_];
  if (w & bit) return false;
  w |= bit;
  ++count_;
  drop_full_words();
  return true;
}

range_list task_set::insert(task_range const& range) {
  range_list fresh;
  if (range.empty()) return fresh;
  if (range.stride != 1) {
    for (std::uint64_t i = 0; i < range.count; ++i)
      if (insert(range[i])) append(fresh, {range[i], 1, 1});
    return fresh;
  }
  task_id id = range.first;
  task_id const end = range.first + range.count;
  if (id / 64 < base_) id = std::min(end, base_ * 64);
  if (id == end) return fresh;
  if ((end - 1) / 64 - base_ >= words_.size()) words_.resize((end - 1) / 64 - base_ + 1);
  task_range latest{id, 0, 1};
  auto const add = [&](task_id first, std::uint64_t n) {
    if (first != latest.first + latest.count) append(fresh, std::exchange(latest, {first, 0, 1}));
    latest.count += n;
  };
  while (id < end) {
    std::uint64_t const bits = std::min<std::uint64_t>(64 - id % 64, end - id);
    std::uint64_t const mask = (bits == 64 ? all_ones : ((std::uint64_t{1} << bits) - 1)) << (id % 64);
    auto& w = words_[id / 64 - base_];
    if ((w & mask) == 0) {
      add(id, bits);
    } else {
      for (std::uint64_t b = 0; b < bits; ++b)
        if (!((w >> ((id + b) % 64)) & 1U)) add(id + b, 1);
    }
    count_ += static_cast<std::uint64_t>(std::popcount(mask & ~w));
    w |= mask;
    id += bits;
  }
  append(fresh, latest);
  drop_full_words();
  return fresh;
}

void task_set::erase(task_id id) {
  if (!contains(id)) return;
  for (; id / 64 < base_; --base_) words_.push_front(all_ones);
  words_[id / 64 - base_] &= ~(std::uint64_t{1} << (id % 64));
  --count_;
}

bool task_set::intersects(task_range const& range) const {
  for (std::uint64_t i = 0; i < range.count; ++i)
    if (contains(range[i])) return true;
  return false;
}

task_id task_set::low_water() const {
  std::uint64_t const w = words_.empty() ? 0 : words_.front();
  return base_ * 64 + static_cast<std::uint64_t>(std::countr_one(w));
}

range_list task_set::missing(task_id first, task_id last, task_set const& other) const {
  range_list out;
  for (task_id id = first; id < last;) {
    std::uint64_t const index = id / 64;
    std::uint64_t const present = word(index) | other.word(index);
    // Takes whole words at once, and the entire range beyond the last word: most tasks of a long
    // run are either recorded or not begun.
    if (present == all_ones) {
      id = (index + 1) * 64;
    } else if (present == 0) {
      bool const behind = index >= words_end() && index >= other.words_end();
      auto const end = behind ? last : std::min(last, (index + 1) * 64);
      append(out, {id, end - id, 1});
      id = end;
    } else {
      if (!((present >> (id % 64)) & 1U)) append(out, {id, 1, 1});
      ++id;
    }
  }
  return out;
}

}  // namespace skel
