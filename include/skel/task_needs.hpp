// What a task of a farm takes of its rank: memory, cores and time.
//
//     skel::farm_options const heavy{.task = {.needs = skel::task_needs{.memory = 4'000'000'000}}};
//     skel::farm_options const own{.task = {.needs = [](model const& m) {
//       return skel::task_needs{.memory = 80 * m.cells, .threads = m.width, .seconds = m.steps * 0.3};
//     }}};
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace skel {

/// What one task takes. A rank runs tasks together only while their sums fit its share of the host.
struct task_needs {
  std::uint64_t memory = 0;  ///< bytes, with what all its threads need; 0: negligible
  unsigned threads = 1;      ///< cores, at least 1: the task gets the number as worker_info::threads
  double seconds = 0;        ///< at most; 0: unknown
};

/// The needs of every task of a farm: the same for all, or a function of the task.
class needs_of_task {
 public:
  /// Nothing is known.
  needs_of_task() = default;
  /// Every task needs this.
  needs_of_task(task_needs each)  // NOLINT(google-explicit-constructor): .needs = skel::task_needs{…}
      : of_([each](void const* /*task*/) { return each; }) {}
  /// Task t needs `of(t)`. The parameter of `of` has the type of the tasks, or that of any integer for tasks
  /// that are integers; a generic lambda does not say which. Called by compute threads, concurrently, on the
  /// rank that is about to run the task.
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, needs_of_task> && requires(F f) { std::function(f); })
  needs_of_task(F of)  // NOLINT(google-explicit-constructor): .needs = [](model const& m) {…}
      : needs_of_task(std::function(std::move(of)), 0) {}

  /// Whether any are known.
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(of_); }
  /// Throws usage_error unless they are known for tasks of this type.
  template <class Task>
  void check() const {
    check(typeid(kept_as<Task>));
  }
  /// The needs of a task, for which check() has passed.
  template <class Task>
  [[nodiscard]] task_needs operator()(Task const& task) const {
    kept_as<Task> const& kept = task;
    return of_(&kept);
  }

 private:
  template <class Task>
  using kept_as = std::conditional_t<std::is_integral_v<Task>, std::uint64_t, Task>;

  template <class R, class T>
  needs_of_task(std::function<R(T)> of, int /*unused*/)
      : of_([of = std::move(of)](void const* task) -> task_needs {
          auto const& kept = *static_cast<kept_as<std::remove_cvref_t<T>> const*>(task);
          if constexpr (std::is_integral_v<std::remove_cvref_t<T>>)
            return of(static_cast<std::remove_cvref_t<T>>(kept));
          else
            return of(kept);
        }),
        takes_(&typeid(kept_as<std::remove_cvref_t<T>>)) {}
  void check(std::type_info const& tasks) const;

  std::function<task_needs(void const*)> of_;
  std::type_info const* takes_ = nullptr;  // null: tasks of any type
};

}  // namespace skel
