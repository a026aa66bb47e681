// What became of a task of a farm that goes on when tasks fail: its result, or why it has none.
//
//     auto const take = [&](skel::task_id i, skel::outcome<double> r) {
//       if (r) table[i] = *r; else std::cerr << "task " << i << ": " << r.error().text << '\n';
//     };
//     skel::farm(ctx, source, f, take, {.on_error = skel::on_error::collect{}});
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "skel/error.hpp"
#include "skel/report.hpp"
#include "skel/transfer.hpp"

namespace skel {

/// The parameter of a sink that is called for failed tasks, too (on_error::collect). Like a
/// std::expected<R, task_failure>. The type R is that of the task function's result.
template <class R>
class outcome {
 public:
  /// The type of the result.
  using value_type = R;
  /// No result, and no failure: the element of a vector whose task has not ended.
  outcome() = default;
  /// The task has this result.
  explicit outcome(R value) : value_(std::move(value)) {}
  /// The task was left out.
  explicit outcome(task_failure why) : why_(std::move(why)) {}

  /// Whether the task has a result.
  [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }
  /// Whether the task has a result.
  [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
  /// The result. Requires has_value().
  [[nodiscard]] R& operator*() & { return *value_; }
  /// The result. Requires has_value().
  [[nodiscard]] R const& operator*() const& { return *value_; }
  /// The result. Requires has_value().
  [[nodiscard]] R&& operator*() && { return *std::move(value_); }
  /// The result. Requires has_value().
  [[nodiscard]] R* operator->() { return &*value_; }
  /// The result. Requires has_value().
  [[nodiscard]] R const* operator->() const { return &*value_; }
  /// The result. Throws task_error if there is none.
  [[nodiscard]] R const& value() const {
    if (!value_) throw task_error(why_.task, why_.rank, why_.text, 0);
    return *value_;
  }
  /// Why the task has no result, as in report::failed_tasks.
  [[nodiscard]] task_failure const& error() const noexcept { return why_; }

 private:
  std::optional<R> value_;
  task_failure why_;
};

/// Outcomes travel if their results do.
template <transferable R>
struct transfer_traits<outcome<R>> {
  static void pack(outcome<R> const& o, std::vector<std::byte>& out) {  ///< Appends to `out`.
    skel::pack(o.has_value(), out);
    if (o)
      skel::pack(*o, out);
    else
      skel::pack(o.error(), out);
  }
  static outcome<R> unpack(std::span<std::byte const>& in) {  ///< Takes from the front of `in`.
    if (skel::unpack<bool>(in)) return outcome<R>(skel::unpack<R>(in));
    return outcome<R>(skel::unpack<task_failure>(in));
  }
};

}  // namespace skel
