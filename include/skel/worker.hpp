// What a task function may ask about the place where it runs.
#pragma once

#include <memory>
#include <vector>

#include "skel/context.hpp"

namespace skel {

/// A task function may take it as its second argument: f(task, skel::worker_info const&).
struct worker_info {
  int rank = 0;
  unsigned thread = 0;  ///< of this rank, 0 ... threads - 1; one task at a time runs on it
  unsigned threads = 1;
};

/// One object per compute thread of this rank, for scratch memory: no locks, no false sharing worth speaking
/// of.
template <class T>
class per_thread {
 public:
  explicit per_thread(context const& ctx) : slots_(static_cast<std::size_t>(ctx.threads())) {
    for (auto& s : slots_) s = std::make_unique<T>();
  }
  [[nodiscard]] T& operator[](worker_info const& where) const { return *slots_[where.thread]; }

 private:
  std::vector<std::unique_ptr<T>> slots_;
};

}  // namespace skel
