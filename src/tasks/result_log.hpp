// The content of a farm's checkpoint: results as bytes, in the order in which the sink received them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "skel/detail/task_range.hpp"

namespace skel::detail {

/// Entries of task ranges and the bytes of their results. Entries are never copied again, so taking them is
/// cheap. A log behind another is a log.
class result_log {
 public:
  void add(range_list const& ranges, std::span<std::byte const> results);

  using segments = std::vector<std::shared_ptr<std::vector<std::byte> const>>;
  /// Everything added since the last call.
  [[nodiscard]] segments take();

 private:
  void seal();

  segments sealed_;
  std::vector<std::byte> open_;
};

/// Results that merge into one value: the log holds that value and the tasks in it.
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
  std::span<std::byte const> results;  // points into the bytes read
};
/// The entries of a log of a farm of `tasks` tasks. Throws protocol_error if the bytes are not a log, or if
/// they name a task that does not exist or name one twice.
[[nodiscard]] std::vector<logged_results> read_log(std::span<std::byte const> bytes, std::uint64_t tasks);

}  // namespace skel::detail
