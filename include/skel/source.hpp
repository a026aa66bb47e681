// Sources of tasks: a list that every rank has, or a stream that exists on the root only.
//
//     skel::indices(1000)                                     // the numbers 0 to 999
//     skel::replicated(names)                                 // the same list on every rank
//     skel::on_root([&] { return read_tasks(file); })         // called on the root; tasks travel
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "skel/error.hpp"

namespace skel {

/// A list that is the same on every rank: only task numbers travel. Refers to an lvalue, owns an
/// rvalue. The ranks compare a hash of its elements; context_options::checks says which.
template <std::ranges::random_access_range R>
  requires std::ranges::sized_range<R>
class replicated {
 public:
  /// The type of a task.
  using task = std::remove_cvref_t<std::ranges::range_reference_t<R const>>;

  /// `list` must not change during the call.
  explicit replicated(R list) : list_(std::move(list)) {}
  /// The number of tasks.
  [[nodiscard]] std::uint64_t size() const { return static_cast<std::uint64_t>(std::ranges::size(list_)); }
  /// Task `id`, 0 to size() - 1. A reference if the list has references.
  [[nodiscard]] decltype(auto) operator[](std::uint64_t id) const {
    return std::ranges::begin(list_)[static_cast<std::ranges::range_difference_t<R const>>(id)];
  }

 private:
  R list_;
};

namespace detail {

// A reference to a range. Not a std::ranges::ref_view: clang 14 cannot compile the one of libstdc++
// 12.
template <class R>
class referred {
 public:
  referred(R& range) : range_(&range) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] auto begin() const { return std::ranges::begin(*range_); }
  [[nodiscard]] auto end() const { return std::ranges::end(*range_); }
  [[nodiscard]] auto size() const
    requires std::ranges::sized_range<R>
  {
    return std::ranges::size(*range_);
  }

 private:
  R* range_;
};

// How a list is stored: a reference to an lvalue, the rvalue itself. The elements of an
// initializer_list are copied, because it does not own them.
template <class R>
struct kept {
  using type = R;
};
template <class R>
struct kept<R&> {
  using type = referred<R>;
};
template <class R>
struct kept<R&&> : kept<R> {};
template <class T>
struct kept<std::initializer_list<T>> {
  using type = std::vector<T>;
};

}  // namespace detail

/// Refers to an lvalue, owns an rvalue; copies the elements of an initializer_list.
template <class R>
replicated(R&&) -> replicated<typename detail::kept<std::remove_cv_t<R>>::type>;

/// The source that indices() returns. Not a views::iota, which clang 14 cannot compile with
/// libstdc++ 12.
class task_numbers {
 public:
  /// A task is its own number.
  using task = std::uint64_t;
  /// The numbers 0 to n - 1.
  explicit task_numbers(std::uint64_t n) : size_(n) {}
  /// The number of tasks.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// The number itself.
  [[nodiscard]] std::uint64_t operator[](std::uint64_t id) const { return id; }

 private:
  std::uint64_t size_;
};

/// Returns a source of the numbers 0 to n - 1. Throws usage_error for a negative number.
[[nodiscard]] inline task_numbers indices(std::uint64_t n) {
  detail::require_count("indices", "the number of tasks", n);
  return task_numbers(n);
}
/// Deleted: the number of tasks is an integer.
void indices(std::floating_point auto) = delete;

/// A source that exists on the root only. The root calls `open` once. For farm and ring_steal,
/// `open` returns an input range, from which tasks are pulled lazily and sent. For
/// divide_and_conquer and broadcast it returns the problem or value.
template <class Open>
class on_root {
 public:
  /// The type that `open` returns.
  using opened = std::invoke_result_t<Open&>;

  /// Stores `open`.
  explicit on_root(Open open) : open_(std::move(open)) {}
  /// Calls `open`.
  [[nodiscard]] opened open() { return open_(); }

 private:
  Open open_;
};

/// Whether S is a list that every rank has.
template <class S>
inline constexpr bool is_replicated = false;
/// \cond
template <class R>
inline constexpr bool is_replicated<replicated<R>> = true;
template <>
inline constexpr bool is_replicated<task_numbers> = true;
/// \endcond
/// Whether S is an on_root.
template <class S>
inline constexpr bool is_on_root = false;
/// \cond
template <class O>
inline constexpr bool is_on_root<on_root<O>> = true;
/// \endcond

/// The whole problem of a divide_and_conquer call, which every rank has. Only solutions travel.
template <class Problem>
struct replicated_problem {
  Problem problem;  ///< the same on every rank
};
/// Owns a copy of the problem.
template <class P>
replicated_problem(P) -> replicated_problem<P>;

/// A rank's own part of the problem of a divide_and_conquer call, which is already distributed over
/// the ranks.
template <class Problem>
struct own_part {
  Problem problem;  ///< this rank's part
};
/// Owns a copy of the part.
template <class P>
own_part(P) -> own_part<P>;

namespace detail {

template <class T>
inline constexpr bool never = false;  // in a static_assert of a template that must not be used

template <class R>
inline constexpr bool is_initializer_list = false;
template <class T>
inline constexpr bool is_initializer_list<std::initializer_list<T>> = true;

template <class S>
struct task_of {
  using type = typename S::task;
};
template <class Open>
struct task_of<on_root<Open>> {
  using range = typename on_root<Open>::opened;
  static_assert(std::ranges::input_range<range>,
                "skel::on_root: the function must return an input range (a container, a view, a generator).");
  static_assert(!is_initializer_list<std::remove_cvref_t<range>>,
                "skel::on_root: the function must return a container: the elements of an initializer_list "
                "are gone when it returns.");
  using type = std::remove_cvref_t<std::ranges::range_reference_t<range>>;
};
template <class Source>
using source_task = typename task_of<std::remove_cvref_t<Source>>::type;

}  // namespace detail

/// Satisfied by skel::indices(...), skel::replicated<...> and skel::on_root<...>.
template <class S>
concept task_source = is_replicated<std::remove_cvref_t<S>> || is_on_root<std::remove_cvref_t<S>>;

namespace detail {

template <class S>
struct problem_of;
template <class Open>
struct problem_of<on_root<Open>> {
  using type = std::remove_cvref_t<typename on_root<Open>::opened>;
};
template <class P>
struct problem_of<replicated_problem<P>> {
  using type = P;
};
template <class P>
struct problem_of<own_part<P>> {
  using type = P;
};

}  // namespace detail

/// Satisfied by skel::on_root<...>, skel::replicated_problem<...> and skel::own_part<...>.
template <class S>
concept problem_source = requires { typename detail::problem_of<std::remove_cvref_t<S>>::type; };

}  // namespace skel
