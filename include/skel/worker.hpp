// The rank and thread of a task, and scratch memory for each thread.
//
//     skel::per_thread<std::vector<double>> scratch(ctx);
//     auto const f = [&](int task, skel::worker_info const& where) { return solve(task, scratch[where]); };
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "skel/context.hpp"

namespace skel {

/// The rank and thread that run a task. A task function may take it as its last argument: f(task,
/// skel::worker_info const&).
struct worker_info {
  int rank = 0;          ///< in the context
  unsigned thread = 0;   ///< compute thread of this rank, 0 to threads - 1; it runs one task at a time
  unsigned threads = 1;  ///< compute threads of this rank; with task_needs: cores that the task may use
  /// The accelerator of this thread: its index among those that CUDA_VISIBLE_DEVICES,
  /// ROCR_VISIBLE_DEVICES or ZE_AFFINITY_MASK lists (the first of them that is set), as
  /// cudaSetDevice() counts them. Empty: none is set, or it lists no device. The ranks of a host share
  /// the devices by context::local_rank(), and the threads of a rank share those of the rank
  /// (context_options::threads_per_device).
  std::optional<int> device{};
};

/// One T per compute thread of this rank, for scratch memory without locks. T is default
/// constructible.
template <class T>
class per_thread {
 public:
  /// Creates ctx.threads() objects.
  explicit per_thread(context const& ctx) : slots_(static_cast<std::size_t>(ctx.threads())) {
    for (auto& s : slots_) s = std::make_unique<T>();
  }
  /// The object of the thread that `where` names.
  [[nodiscard]] T& operator[](worker_info const& where) const { return *slots_[where.thread]; }

 private:
  std::vector<std::unique_ptr<T>> slots_;
};

}  // namespace skel
