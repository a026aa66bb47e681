// Results of a farm in the order in which the sink has had them, as bytes: what a checkpoint of a farm holds.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "skel/detail/task_range.hpp"

namespace skel::detail {

/// Entries of ranges of tasks and the bytes of their results. What was added once is never copied again, so
/// that a snapshot costs next to nothing and can be put together by another thread.
class result_log {
 public:
  void add(range_list const& ranges, std::span<std::byte const> results);

  using snapshot = std::vector<std::shared_ptr<std::vector<std::byte> const>>;
  /// All that was added so far.
  [[nodiscard]] snapshot all();
  [[nodiscard]] static std::vector<std::byte> joined(snapshot const& parts);

 private:
  void seal();

  snapshot sealed_;
  std::vector<std::byte> open_;
};

/// Results of several tasks that merge into one value: the log is that value, and whose it is.
class merged_log {
 public:
  /// merge(into, more): both hold a packed value.
  using merge = std::function<void(std::vector<std::byte>& into, std::span<std::byte const> more)>;
  explicit merged_log(merge m) : merge_(std::move(m)) {}
  void add(range_list const& ranges, std::span<std::byte const> results);
  [[nodiscard]] std::vector<std::byte> all() const;

 private:
  merge merge_;
  range_list ranges_;
  std::vector<std::byte> value_;
};

struct logged_results {
  range_list ranges;
  std::span<std::byte const> results;  // within what was read
};
/// The entries of a log of a farm of so many tasks. Throws protocol_error where the bytes are none, or a task
/// does not exist or is named twice.
[[nodiscard]] std::vector<logged_results> read_log(std::span<std::byte const> bytes, std::uint64_t tasks);

}  // namespace skel::detail
