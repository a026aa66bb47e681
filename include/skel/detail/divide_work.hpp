// Type-erased interface of divide_and_conquer: problems and solutions. skel/divide_and_conquer.hpp
// implements it for the user's types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "skel/context.hpp"
#include "skel/detail/divide_job.hpp"
#include "skel/detail/erased.hpp"
#include "skel/placement.hpp"
#include "skel/report.hpp"

namespace skel {

class any_division;
struct divide_and_conquer_options;

namespace detail {

/// One problem, or several adjacent ones made by a division.
struct divide_problem : erased {};

/// Their solutions.
struct divide_solution : erased {};

using problem_ptr = std::shared_ptr<divide_problem const>;
using solution_ptr = std::unique_ptr<divide_solution>;

/// All functions except open() and those that name types are called concurrently.
class divide_work : public user_work {
 public:
  /// Opens the problem that this rank holds at the start. `depth`: for an own_part, how many times
  /// parts are combined.
  [[nodiscard]] virtual problem_ptr open(int depth) = 0;
  /// Divides the problem into two halves, the first with about `share` of the work. Returns nothing
  /// if the problem cannot be divided.
  [[nodiscard]] virtual std::optional<std::pair<problem_ptr, problem_ptr>> divide(divide_problem const& p,
                                                                                  double share) const = 0;
  [[nodiscard]] virtual solution_ptr solve(divide_problem const& p, unsigned threads) const = 0;
  [[nodiscard]] virtual solution_ptr combine(solution_ptr left, solution_ptr right) const = 0;
  /// Whether solve() uses several threads itself.
  [[nodiscard]] virtual bool solves_with_threads() const = 0;
  /// The variables that the cost depends on.
  [[nodiscard]] virtual problem_sizes measure(divide_problem const& p) const = 0;

  virtual void pack(divide_problem const& p, std::vector<std::byte>& out) const = 0;
  virtual void pack(divide_solution const& s, std::vector<std::byte>& out) const = 0;
  [[nodiscard]] virtual problem_ptr unpack_problem(std::span<std::byte const> in) const = 0;
  /// `in` stays valid as long as `owner` exists.
  [[nodiscard]] virtual solution_ptr unpack_solution(std::span<std::byte const> in,
                                                     std::shared_ptr<void const> const& owner) const = 0;
};

using division::placement;

/// The properties of a kind of divide-and-conquer.
struct divide_kind {
  std::string name;
  placement from{};
  placement to{};
};

/// Throws usage_error for options that exclude each other.
[[nodiscard]] divide_kind kind_of(any_division const& division, placement from);

/// `mine` receives this rank's share of the solution, which is empty on some ranks.
[[nodiscard]] report run_divide_and_conquer(context& ctx, divide_work& work, divide_kind const& kind,
                                            divide_and_conquer_options const& options, solution_ptr& mine);

}  // namespace detail
}  // namespace skel
