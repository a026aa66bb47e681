// Where results go: a callable on the root, in the order of completion or of the tasks, or one merged value.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "skel/detail/conversion.hpp"
#include "skel/detail/task_range.hpp"

namespace skel {

/// The result of a task function that returns nothing.
struct no_result {};

/// What a sink may return to end the run early (the first solution was enough).
enum class flow : bool { go_on, stop };

/// Results in task order: f(task_id, result&&). Results that come early wait; `window` bounds how many tasks
/// beyond the first missing one are given out (0: a default bound where the schedule allows one). Keeps a
/// reference to lvalues, so that a function object sees what it has collected, and owns rvalues.
template <class F>
struct ordered {
  F function;
  std::uint64_t window = 0;
  explicit ordered(F f, std::uint64_t w = 0) : function(std::forward<F>(f)), window(w) {}
};
template <class F>
ordered(F&&, std::uint64_t = 0) -> ordered<F>;

/// Merges of these types do not depend on the order: integers, and whatever the user vouches for by
/// specialising.
template <class T>
inline constexpr bool exact_merge = std::integral<T>;

/// Results are merged on each rank, `total = merge(total, result)`, and arrive as few values. `total` is the
/// initial value on the root and receives the result there; it has the results' type. The merge must be
/// associative and commutative, and exact: the order depends on the schedule, so floating-point sums are
/// refused (specialise skel::exact_merge for a reproducible type).
template <class T, class Merge>
struct reduced {
  using value_type = T;
  using merge_type = Merge;
  T* total;
  Merge merge;
  reduced(T& into, Merge m) : total(&into), merge(std::move(m)) {}
};

namespace detail {
template <class Source, class F, class Sink>
class farm_work_of;
}

/// What into() makes.
template <class T>
class vector_sink {
 public:
  explicit vector_sink(std::vector<T>& results) : results_(&results) {}
  void operator()(task_id id, T&& value) const {
    make_room(id + 1);
    (*results_)[id] = std::move(value);
  }

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

/// A sink that stores result i in place i of a vector. Exists on every rank, filled on the root; there it is
/// resized to the number of tasks when the farm begins, or grows as results come where that is not known.
/// Tasks that the root runs itself write their results straight into their places.
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

// Whether results of type R can be computed in their places: neighbours must not share a byte.
template <class S, class R>
inline constexpr bool has_places = false;
template <class R>
inline constexpr bool has_places<vector_sink<R>, R> = !std::is_same_v<R, bool>;

// Whether a parameter takes task numbers: 64 bits, signed or not.
template <class P>
inline constexpr bool holds_task_ids = holds_every<task_id, P>() || holds_every<std::int64_t, P>();

// A sink of results of type R: where it can be called, whether its parameters receive what it is called with
// (swapped ones do not), and what it returns.
template <class Sink, class R>
inline constexpr bool takes_result = std::is_invocable_v<Sink&, task_id, R&&>;
template <class Sink, class R>
inline constexpr bool callable_sink =
    takes_result<Sink, R> || (std::is_same_v<R, no_result> && std::is_invocable_v<Sink&, task_id>);
template <class Sink, class R>
inline constexpr bool keeps_values = holds_task_ids<std::remove_cvref_t<parameter<Sink, 0>>> &&
                                     holds_every<R, std::remove_cvref_t<parameter<Sink, 1>>>();
template <class Sink, class R>
constexpr bool sink_returns_bool() {
  if constexpr (takes_result<Sink, R>)
    return std::is_same_v<std::remove_cvref_t<std::invoke_result_t<Sink&, task_id, R&&>>, bool>;
  else
    return std::is_same_v<std::remove_cvref_t<std::invoke_result_t<Sink&, task_id>>, bool>;
}

// What the results go through: the function of an ordered sink.
template <class S>
struct function_of_sink {
  using type = S;
};
template <class F>
struct function_of_sink<ordered<F>> {
  using type = std::remove_reference_t<F>;
};

// A merge may be called by several threads at once, and what it returns replaces a result.
template <class Merge, class R>
concept merges = requires(Merge const& merge, R a, R b) {
  { merge(std::move(a), std::move(b)) } -> becomes<R>;
} && receives<Merge, R, R>;

// Calls a user's sink with or without a result (which is moved from), and reads its wish to stop.
template <class Sink, class R>
bool call_sink(Sink& sink, task_id id, R& result) {
  auto const call = [&]() -> decltype(auto) {
    if constexpr (takes_result<Sink, R>)
      return sink(id, std::move(result));
    else
      return sink(id);
  };
  if constexpr (std::is_same_v<decltype(call()), flow>) {
    return call() == flow::go_on;
  } else {
    call();
    return true;
  }
}

}  // namespace detail

}  // namespace skel
