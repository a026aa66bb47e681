// Tasks of a stream, on the root.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "skel/detail/farm_work.hpp"

namespace skel::detail {

// The tasks of a stream that are not recorded yet, in chunks as they were pulled.
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
    auto const& c = find(id);
    return {c.tasks, &(*c.tasks)[id - c.first], {}};
  }
  [[nodiscard]] Task const& operator[](task_id id) const {
    auto const& c = find(id);
    return (*c.tasks)[id - c.first];
  }
  void forget(task_id id) {
    auto& c = const_cast<chunk&>(find(id));
    if (--c.left == 0) c.tasks.reset();
    while (!chunks_.empty() && chunks_.front().left == 0) chunks_.pop_front();
  }

 private:
  struct chunk {
    task_id first;
    std::uint64_t left;
    std::shared_ptr<std::vector<Task> const> tasks;
  };
  [[nodiscard]] chunk const& find(task_id id) const {
    auto const after = std::upper_bound(chunks_.begin(), chunks_.end(), id,
                                        [](task_id i, chunk const& c) { return i < c.first; });
    return *std::prev(after);
  }
  std::deque<chunk> chunks_;
  task_id end_ = 0;
};

}  // namespace skel::detail
