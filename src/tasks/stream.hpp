// Tasks that travel: from the source of an on_root farm into the pool, and within messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "skel/detail/farm_work.hpp"
#include "transport/packet.hpp"

namespace skel::detail {

/// On the root, the source keeps the tasks; on other ranks, this class does. Call everything but turn() and
/// pull() under the engine's lock.
class farm_stream {
 public:
  /// `window`: most tasks pulled before they are granted, and `bytes` of them. Does nothing without a source.
  farm_stream(task_feed* source, bool is_root, std::uint64_t window, std::uint64_t bytes);

  /// Number of tasks pulled and accepted so far.
  [[nodiscard]] std::uint64_t supplied() const { return supplied_; }
  [[nodiscard]] bool carries_tasks() const { return source_ != nullptr; }
  /// Mean bytes of the tasks pulled last; 0: none yet.
  [[nodiscard]] double task_bytes() const { return task_bytes_; }

  // --- messages that give tasks
  /// Keeps the payloads of `ranges`: `bytes` within the message `whole`.
  void store(std::span<task_range const> ranges, std::span<std::byte const> bytes,
             transport::packet const& whole);
  /// Appends the payloads of `ranges`. Ranks other than the root then drop them.
  void pack(std::span<task_range const> ranges, std::vector<std::byte>& out);
  /// Replaces the content of `to` by the payloads of tasks that a thread is about to run.
  void fetch(task_range const& range, std::vector<task_payload>& to);
  /// Keeps the payload of a task again, since the thread does not run it now.
  void put_back(task_id task, task_payload const& what);
  /// Drops the payloads of recorded tasks.
  void forget(task_range const& range) {
    if (source_ != nullptr) source_->forget(range);
  }
  void clear() { payloads_.clear(); }

  // --- the source, on the root
  struct supply {
    std::uint64_t available = 0;  ///< tasks so far
    bool ended = false;
    std::optional<std::string> error;
  };
  /// Held by the thread that pulls; not owned if another thread pulls or nothing is left to pull.
  [[nodiscard]] std::unique_lock<std::mutex> turn();
  /// The books of a steered source; null: it is another one.
  [[nodiscard]] steered_book* book() const { return book_; }
  /// Whether to pull: from a steered source for `idle` threads, from others if fewer than half of the tasks
  /// that may be pulled ahead are left.
  [[nodiscard]] bool due(std::uint64_t pooled, std::uint64_t idle) const;
  /// Pulls tasks, then accepts them under the lock `engine`.
  [[nodiscard]] supply pull(std::uint64_t pooled, std::uint64_t idle, std::unique_lock<std::mutex>& engine);

 private:
  struct packed_task {
    std::shared_ptr<std::vector<std::byte> const> bytes;
    std::size_t offset, size;
    [[nodiscard]] std::span<std::byte const> span() const { return std::span(*bytes).subspan(offset, size); }
  };

  task_feed* source_;
  steered_book* book_;
  bool is_root_;
  std::uint64_t most_ahead_, bytes_ahead_;
  std::uint64_t ahead_;  // most_ahead_, or fewer tasks if they take more than bytes_ahead_
  double task_bytes_ = 0;
  std::unordered_map<task_id, packed_task> payloads_;
  std::mutex pulling_;
  bool source_ended_ = false;
  std::uint64_t supplied_ = 0;
};

}  // namespace skel::detail
