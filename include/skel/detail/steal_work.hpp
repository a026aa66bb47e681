// Type-erased interface of ring_steal: tasks and results. skel/ring_steal.hpp implements it for the
// user's types.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "skel/context.hpp"
#include "skel/detail/erased.hpp"
#include "skel/report.hpp"
#include "skel/worker.hpp"

namespace skel {

struct ring_steal_options;
namespace schedule {
struct stealing;
}

namespace detail {

/// Waiting tasks. The oldest are at the front; thieves get those.
struct task_bag : erased {
  [[nodiscard]] virtual std::size_t size() const = 0;
};

/// The merged result of many tasks.
struct merged_result : erased {};

class steal_work : public user_work {
 public:
  /// The number of tasks of a replicated list.
  [[nodiscard]] virtual std::optional<std::uint64_t> tasks() const = 0;

  /// The bound that the tasks of this rank share, as a number that grows as the bound improves; 0:
  /// none is known. Null if the job has no bound.
  [[nodiscard]] virtual std::atomic<std::uint64_t>* bound() = 0;

  [[nodiscard]] virtual std::unique_ptr<task_bag> make_bag() const = 0;
  [[nodiscard]] virtual std::unique_ptr<merged_result> make_result() const = 0;
  /// Appends the tasks of the source, on the root.
  virtual void open_source(task_bag& into) = 0;

  /// Runs the newest tasks of the bag, at most `most`, and puts the tasks that they spawn into the
  /// bag. `done` counts the tasks that have run, even if one throws. Compute threads call it
  /// concurrently.
  virtual void run(task_bag& from, merged_result& into, std::uint64_t most, std::uint64_t& done,
                   worker_info const& where) const = 0;

  virtual void move_oldest(task_bag& from, std::size_t n, task_bag& to) const = 0;
  virtual void move_newest(task_bag& from, std::size_t n, task_bag& to) const = 0;
  virtual void merge(merged_result& into, merged_result& from) const = 0;
  virtual void pack_bag(task_bag const& from, std::vector<std::byte>& out) const = 0;
  virtual void unpack_bag(std::span<std::byte const>& in, task_bag& into) const = 0;
  virtual void pack_result(merged_result const& from, std::vector<std::byte>& out) const = 0;
  virtual void unpack_result(std::span<std::byte const>& in, merged_result& into) const = 0;
};

/// Runs the call. `total` receives the result, on every rank.
[[nodiscard]] report run_ring_steal(context& ctx, steal_work& work, schedule::stealing const& how,
                                    ring_steal_options const& options, merged_result& total);

}  // namespace detail
}  // namespace skel
