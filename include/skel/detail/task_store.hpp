// Stores the tasks of a stream, on the root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "skel/detail/farm_work.hpp"

namespace skel::detail {

// The tasks of a stream whose results are not recorded yet, in the chunks in which they were
// pulled.
template <class Task>
class task_store {
 public:
  void add(std::vector<Task> tasks) {
    if (tasks.empty()) return;
    auto const n = tasks.size();
    chunks_.push_back({end_, n, std::make_shared<std::vector<Task> const>(std::move(tasks))});
    end_ += n;
  }
  [[nodiscard]] task_payload payload_of(task_id id) const {
    auto const& c = chunks_[chunk_of(id)];
    return {c.tasks, &(*c.tasks)[id - c.first], {}};
  }
  [[nodiscard]] Task const& operator[](task_id id) const {
    auto const& c = chunks_[chunk_of(id)];
    return (*c.tasks)[id - c.first];
  }
  void forget(task_id id) {
    auto& c = chunks_[chunk_of(id)];
    if (--c.left == 0) c.tasks.reset();
    while (first_ < chunks_.size() && chunks_[first_].left == 0) ++first_;
    if (first_ * 2 < chunks_.size()) return;
    chunks_.erase(chunks_.begin(), chunks_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }

 private:
  struct chunk {
    task_id first;
    std::uint64_t left;
    std::shared_ptr<std::vector<Task> const> tasks;
  };
  // The last chunk that begins at or before `id`.
  [[nodiscard]] std::size_t chunk_of(task_id id) const {
    auto low = first_, high = chunks_.size();
    while (high - low > 1) {
      auto const middle = low + (high - low) / 2;
      (chunks_[middle].first <= id ? low : high) = middle;
    }
    return low;
  }
  std::vector<chunk> chunks_;
  std::size_t first_ = 0;  // chunks before it are done
  task_id end_ = 0;
};

}  // namespace skel::detail
