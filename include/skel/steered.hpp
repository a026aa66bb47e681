// A source of a farm that is told results: the next tasks depend on the results of earlier ones.
//
//     struct climb {                                      // maximises f by steps from the best point so far
//       double best_x = 0, best = f(0);
//       std::optional<std::vector<double>> ask(std::uint64_t n) {         // up to n tasks
//         if (best > 0.99) return std::nullopt;                           // the end
//         std::vector<double> tasks;
//         while (tasks.size() < n) tasks.push_back(best_x + step());
//         return tasks;
//       }
//       void tell(skel::task_id, double x, double y) {                    // the result of a task
//         if (y > best) best = y, best_x = x;
//       }
//     };
//     climb state;
//     skel::farm(ctx, skel::steered(state), f, skel::discard);
#pragma once

#include <cstdint>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "skel/detail/task_range.hpp"
#include "skel/error.hpp"
#include "skel/source.hpp"

namespace skel {

/// The order of a steered source that asks the same tasks on any number of ranks and after losses. It is told
/// results in the order of the tasks' numbers, and then asked for as many tasks as are missing from `window`
/// open ones. An open task has been asked for and has neither been told, nor left out, nor cancelled.
struct reproducible {
  std::uint64_t window = 0;  ///< at least 1; twice as many as there are compute threads keep these busy
};

/// The last parameter of tell(), if the state has it.
class steering {
 public:
  /// For the farm, which reads `cancelled`.
  explicit steering(std::vector<task_id>& cancelled) : cancelled_(cancelled) {}
  /// The result of this task is not wanted any more: tell() and the sink are not called for it. If no rank
  /// has it yet, it does not run. Without effect on a task whose result has been told.
  void cancel(task_id task) { cancelled_.push_back(task); }

 private:
  std::vector<task_id>& cancelled_;
};

/// A source of a farm whose tasks depend on results. `state` exists on every rank and is used on the root
/// only, one call at a time:
/// - ask(n) returns up to n new tasks in an optional container. An empty one: nothing now, ask again after
///   the next result. std::nullopt: no more tasks will come. Tasks are numbered in the order of ask(), from
///   0.
/// - tell(task_id, task const&, result const&) receives the result of a task, once, before the sink does. It
///   may take a skel::steering& as its last parameter, to cancel tasks, and may return skel::results::flow,
///   to end the run. With skel::outcome<result> const& it hears of failed tasks, too (on_error::collect).
///
/// Without an order, n is the number of compute threads that wait for a task, and results are told as they
/// come. Refers to an lvalue, owns an rvalue.
template <class State>
class steered {
 public:
  /// What ask() returns, without the optional.
  using tasks = typename std::remove_cvref_t<decltype(std::declval<std::remove_reference_t<State>&>().ask(
      std::uint64_t{}))>::value_type;
  /// The type of a task.
  using task = std::remove_cvref_t<std::ranges::range_reference_t<tasks>>;

  /// Results are told as they come.
  explicit steered(State state) : state_(std::forward<State>(state)) {}
  /// Results are told in the order of the tasks.
  steered(State state, reproducible order) : state_(std::forward<State>(state)), window_(order.window) {
    detail::require_count("steered", "the window of reproducible", order.window, 1);
  }
  /// The state, to be asked and told.
  [[nodiscard]] std::remove_reference_t<State>& state() { return state_; }
  /// The window of reproducible; 0: results are told as they come.
  [[nodiscard]] std::uint64_t window() const { return window_; }

 private:
  State state_;
  std::uint64_t window_ = 0;
};
/// Refers to an lvalue, owns an rvalue.
template <class State>
steered(State&&) -> steered<State>;
/// Refers to an lvalue, owns an rvalue.
template <class State>
steered(State&&, reproducible) -> steered<State>;

/// Whether S is a steered source.
template <class S>
inline constexpr bool is_steered = false;
/// \cond
template <class State>
inline constexpr bool is_steered<steered<State>> = true;
/// \endcond

/// A sink that receives results and keeps none.
struct discard_results {
  /// Does nothing.
  template <class R>
  void operator()(task_id, R const&) const {}
};
/// The sink for a farm whose results only the source needs.
inline constexpr discard_results discard{};

}  // namespace skel
