// Sinks for results on the root: a callable, in the order of completion or of the tasks; a vector;
// or one merged value.
//
//     [&](skel::task_id i, double r) { ... }                           // in the order of completion
//     skel::ordered([&](skel::task_id, double r) { out << r; })        // in the order of the tasks
//     skel::into(results)                                              // results[i] for task i
//     skel::reduced(sum)                                               // one value
//     [&](skel::task_id i, skel::outcome<double> r) { ... }            // also why tasks have no result
//
// All ranks receive the results from skel::everywhere (skel/everywhere.hpp).
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "skel/detail/conversion.hpp"
#include "skel/detail/task_range.hpp"
#include "skel/outcome.hpp"

namespace skel {

/// The result of a task function that returns nothing.
struct no_result {};

namespace results {
/// Return type of a sink that may end the run early, for instance after the first solution.
enum class flow : bool {
  go_on,  ///< the run continues
  stop    ///< the run ends early
};
}  // namespace results

/// A sink that receives results in task order: f(task_id, result&&). Early results wait. Refers to
/// an lvalue, so a function object keeps what it has collected; owns an rvalue.
template <class F>
struct ordered {
  F function;  ///< the function, or a reference to it
  /// Upper bound on the number of tasks handed out beyond the first missing one. 0: as many as have
  /// results in a quarter of the root's memory (results_policy::window_bytes), if the schedule allows a
  /// bound.
  std::uint64_t window = 0;
  /// Wraps `f` with the window `w`.
  explicit ordered(F f, std::uint64_t w = 0) : function(std::forward<F>(f)), window(w) {}
};
/// Refers to an lvalue, owns an rvalue.
template <class F>
ordered(F&&, std::uint64_t = 0) -> ordered<F>;

/// Whether merges of T do not depend on their order. True for integers, and for the types of
/// skel/exact_merges.hpp and skel/reproducible_sum.hpp; specialise it for types whose merge is exact.
template <class T>
inline constexpr bool exact_merge = std::integral<T>;

/// A sink that merges results on each rank, `total = merge(total, result)`, so few values travel.
/// On the root, `total` holds the initial value and receives the merged value; it has the results'
/// type. The merge must be associative, commutative and exact, since the order depends on the
/// schedule. Floating-point sums are therefore rejected: see skel::exact_merge.
template <class T, class Merge = std::plus<>>
struct reduced {
  using value_type = T;      ///< the type of the results
  using merge_type = Merge;  ///< the type of the merge
  T* total;                  ///< receives the merged value, on the root
  Merge merge;               ///< merge(T, T); several threads may call it at once, on a const object
  /// Merges into `into`, which must outlive the call; by `+` without a merge.
  explicit reduced(T& into, Merge m = {}) : total(&into), merge(std::move(m)) {}
};

namespace detail {
template <class Source, class F, class Sink>
class farm_work_of;
}

/// The sink that into() makes.
template <class T>
class vector_sink {
 public:
  /// Stores into `results`, which must outlive the call.
  explicit vector_sink(std::vector<T>& results) : results_(&results) {}
  /// Stores `value` at index `id`. Grows the vector if it is too short.
  void operator()(task_id id, T&& value) const {
    make_room(id + 1);
    (*results_)[id] = std::move(value);
  }
  /// The vector.
  [[nodiscard]] std::vector<T>& results() const { return *results_; }

 private:
  template <class Source, class F, class Sink>
  friend class detail::farm_work_of;
  void make_places(std::uint64_t tasks) const { results_->resize(tasks); }
  void make_room(std::uint64_t tasks) const {
    if (results_->size() < tasks) make_places(tasks);
  }
  [[nodiscard]] T& place(task_id id) const { return (*results_)[id]; }

  std::vector<T>* results_;
};

/// A sink that stores result i at index i of a vector. Every rank passes a vector; the root's is
/// filled. It is resized to the number of tasks when the farm begins, or grows with the results if
/// that number is unknown. Tasks that the root runs itself construct their results in place.
template <class T>
[[nodiscard]] vector_sink<T> into(std::vector<T>& results) {
  return vector_sink<T>(results);
}

namespace detail {

template <class S>
inline constexpr bool is_ordered = false;
template <class F>
inline constexpr bool is_ordered<ordered<F>> = true;
template <class S>
inline constexpr bool is_reduced = false;
template <class T, class M>
inline constexpr bool is_reduced<reduced<T, M>> = true;

// Whether results of type R can be constructed in place: neighbours must not share a byte.
template <class S, class R>
inline constexpr bool has_places = false;
template <class R>
inline constexpr bool has_places<vector_sink<R>, R> = !std::is_same_v<R, bool>;

// Whether a parameter accepts task numbers: 64 bits, signed or not.
template <class P>
inline constexpr bool holds_task_ids = holds_every<task_id, P>() || holds_every<std::int64_t, P>();

// Checks of a sink of results of type R: whether it can be called, whether its parameters preserve
// their arguments (swapped ones do not), and what it returns.
template <class Sink, class R>
inline constexpr bool takes_result = std::is_invocable_v<Sink&, task_id, R&&>;
template <class Sink, class R>
inline constexpr bool takes_outcome =
    !takes_result<Sink, R> && std::is_invocable_v<Sink&, task_id, outcome<R>&&>;
template <class Sink, class R>
inline constexpr bool callable_sink = takes_result<Sink, R> || takes_outcome<Sink, R> ||
                                      (std::is_same_v<R, no_result> && std::is_invocable_v<Sink&, task_id>);
template <class Sink, class R>
inline constexpr bool keeps_values = holds_task_ids<std::remove_cvref_t<parameter<Sink, 0>>> &&
                                     holds_every<R, std::remove_cvref_t<parameter<Sink, 1>>>();
template <class Sink, class R>
constexpr bool sink_returns_bool() {
  if constexpr (takes_result<Sink, R>)
    return std::is_same_v<std::remove_cvref_t<std::invoke_result_t<Sink&, task_id, R&&>>, bool>;
  else if constexpr (takes_outcome<Sink, R>)
    return std::is_same_v<std::remove_cvref_t<std::invoke_result_t<Sink&, task_id, outcome<R>&&>>, bool>;
  else
    return std::is_same_v<std::remove_cvref_t<std::invoke_result_t<Sink&, task_id>>, bool>;
}

// The function that receives the results: for an ordered sink, the wrapped one.
template <class S>
struct function_of_sink {
  using type = S;
};
template <class F>
struct function_of_sink<ordered<F>> {
  using type = std::remove_reference_t<F>;
};

// Several threads may call a merge at once, and its return value replaces a result.
template <class Merge, class R>
concept merges = requires(Merge const& merge, R a, R b) {
  { merge(std::move(a), std::move(b)) } -> becomes<R>;
} && receives<Merge, R, R>;

// Calls the user's sink, with or without a result (which is moved from). Returns false if the sink
// asks to stop.
template <class Sink, class R>
bool call_sink(Sink& sink, task_id id, R& result) {
  auto const call = [&]() -> decltype(auto) {
    if constexpr (takes_result<Sink, R>)
      return sink(id, std::move(result));
    else if constexpr (takes_outcome<Sink, R>)
      return sink(id, outcome<R>(std::move(result)));
    else
      return sink(id);
  };
  if constexpr (std::is_same_v<decltype(call()), results::flow>) {
    return call() == results::flow::go_on;
  } else {
    call();
    return true;
  }
}

}  // namespace detail

}  // namespace skel
