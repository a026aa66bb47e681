// divide_and_conquer: problems that divide and solutions that combine, over all ranks and their
// threads.
//
//     struct sum_of_numbers {
//       using problem = std::pair<std::uint64_t, std::uint64_t>;  // the numbers first ... last - 1
//       using solution = std::uint64_t;
//       bool trivial(problem const& p) const { return p.second - p.first <= 1; }
//       solution conquer(problem const& p) const { return p.first; }
//       std::array<problem, 2> divide(problem const& p) const {
//         auto const middle = p.first + (p.second - p.first) / 2;
//         return {problem{p.first, middle}, problem{middle, p.second}};
//       }
//       solution combine(solution a, solution b) const { return a + b; }
//     };
//
//     std::uint64_t sum(skel::context& ctx) {  // on every rank
//       skel::replicated_problem const all{sum_of_numbers::problem{0, 1'000'000}};
//       return *skel::divide_and_conquer(ctx, all, sum_of_numbers{}, skel::division::hypercube{}).value;
//     }
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "skel/context.hpp"
#include "skel/detail/conversion.hpp"
#include "skel/detail/divide_job.hpp"
#include "skel/error.hpp"
#include "skel/placement.hpp"
#include "skel/report.hpp"
#include "skel/source.hpp"
#include "skel/stop.hpp"

namespace skel {

/// Kinds of divide-and-conquer by their names in the literature [Hyper, §3].
namespace division {

/// Groups of ranks halve. Ranks at the same position of two groups exchange their solutions, so
/// every rank ends with the solution.
struct hypercube {};
/// Subproblems travel to other ranks, and solutions return. The root ends with the solution.
struct tree {};
/// The data is already distributed, or present on every rank, so dividing needs no communication.
/// The root ends with the solution.
struct embarrassing {};
/// Combining needs no communication: each rank keeps its part of the solution.
struct distributed {};

}  // namespace division

/// A kind chosen at run time. The kinds of namespace division convert to it.
class any_division {
 public:
  /// The kinds, in the order of namespace division.
  enum class kind : std::uint8_t {
    hypercube,     ///< division::hypercube
    tree,          ///< division::tree
    embarrassing,  ///< division::embarrassing
    distributed    ///< division::distributed
  };
  /// Selects division::hypercube.
  any_division(division::hypercube) : kind_(kind::hypercube) {}
  /// Selects division::tree.
  any_division(division::tree) : kind_(kind::tree) {}
  /// Selects division::embarrassing.
  any_division(division::embarrassing) : kind_(kind::embarrassing) {}
  /// Selects division::distributed.
  any_division(division::distributed) : kind_(kind::distributed) {}
  /// Parses "hypercube", "tree", "embarrassing" or "distributed". Throws usage_error, which lists
  /// the known names, for another name.
  explicit any_division(std::string_view name);

  /// The selected kind.
  [[nodiscard]] kind which() const { return kind_; }
  friend bool operator==(any_division const&, any_division const&) = default;

 private:
  kind kind_;
};

/// The name that the constructor of any_division parses.
[[nodiscard]] std::string to_string(any_division const& division);

/// Options of a divide_and_conquer call. The same on every rank.
struct divide_and_conquer_options {
  /// Number of pieces per compute thread into which a rank divides its problem; fewer if a piece is
  /// trivial. Fewer pieces are combined sooner; more pieces balance unequal threads better.
  unsigned pieces_per_thread = 4;
  stop_condition stop{};                       ///< ends the run early when requested on any rank
  std::optional<double> time_limit_seconds{};  ///< ends the run early; empty: no limit
  std::string label{};                         ///< shown by progress and trace; default: the kind's name
  /// A problem that was running on this many lost ranks, after the one whose share it was, ends the run with
  /// task_error, since it probably ended them. 0: never.
  unsigned max_losses_per_task = 2;
};

/// Satisfied by a job: a type that names its problem and solution and has four operations,
///
///     struct sum_of_numbers {
///       using problem = std::vector<double>;
///       using solution = double;
///       bool trivial(problem const& p) const;                   // cannot, or need not, be divided
///       solution conquer(problem const& p) const;               // solves a trivial problem
///       std::array<problem, 2> divide(problem const& p) const;  // or a vector of at least two
///       solution combine(solution a, solution b) const;         // or of a vector of all, in their order
///     };
///
/// and optionally more:
///
///     solution solve(problem const& p) const;                    // sequential, instead of plain recursion
///     solution solve(problem const& p, unsigned threads) const;  // the same with threads of its own
///     bool small(problem const& p) const;                        // from here on, always use solve()
///     std::array<problem, 2> divide(problem const& p, double share) const;  // the first gets this share
///     std::vector<std::pair<std::string, double>> measure(problem const& p) const;  // for the cost model
template <class Job>
concept divide_and_conquer_problem = requires(Job const& job, typename Job::problem const& p) {
  { job.trivial(p) } -> std::convertible_to<bool>;
  { job.conquer(p) } -> detail::becomes<typename Job::solution>;
  { *std::begin(job.divide(p)) } -> detail::becomes<typename Job::problem>;
} && (detail::combines_two<Job> || detail::combines_all<Job>);

/// The value of a divide_and_conquer call: the solution, on the ranks that have it.
///
///     auto const [sorted, report] = skel::divide_and_conquer(ctx, source, job, skel::division::tree{});
///     if (sorted.here()) print(*sorted);
template <class Solution>
struct placed_solution {
  division::placement where = division::placement::everywhere;  ///< which ranks hold a part
  /// This rank's part: the solution, nothing, or (in_parts) its own part.
  std::vector<Solution> parts;

  /// Whether this rank has the whole solution.
  [[nodiscard]] bool here() const { return where != division::placement::in_parts && !parts.empty(); }
  /// The solution. Throws usage_error on a rank that does not have it.
  [[nodiscard]] typename std::vector<Solution>::const_reference operator*() const& {
    if (!here())
      throw usage_error("the solution is not on this rank: check placed_solution::here() before reading it");
    return parts.front();
  }
  /// The solution. Throws usage_error on a rank that does not have it.
  [[nodiscard]] Solution& operator*() &
        requires detail::has_references<Solution>
  {
    return const_cast<Solution&>(*std::as_const(*this));
  }
  /// The solution. Throws usage_error on a rank that does not have it.
  [[nodiscard]] Solution&& operator*() &&
        requires detail::has_references<Solution>
  {
    return std::move(**this);
  }
  /// A member of the solution. Throws usage_error on a rank that does not have it.
  [[nodiscard]] Solution const* operator->() const
    requires detail::has_references<Solution>
  {
    return &**this;
  }
};

/// Divides the problem, solves its parts on all ranks, and combines their solutions.
///
/// Collective: every rank of `ctx` makes the same call. `how` is a kind of namespace division or an
/// any_division; it decides which ranks end with the solution. Any number of ranks works, and a
/// division may make any number of problems. The compute threads of a rank call the job's functions
/// concurrently, on a const object. Each rank divides its problem further, so that every thread has
/// pieces to solve. If job.solve takes threads and there is no small(), a single thread per rank calls the
/// job instead; with small(), `threads` is 1.
///
/// The solution has the same bytes for every number of ranks and threads, and after losses,
/// - if the job has no solve(), or has small(): the tree of divisions then depends on the problem
///   only. Exception: divide(p, share) on a number of ranks that is not a power of two;
/// - otherwise, if solve(p) equals the combined solutions of the parts of p. Sums of floating-point
///   numbers do not satisfy this: give such a job small().
/// - With own_part, the parts are combined in pairs by rank: combine must be associative.
///
/// Losses: a rank keeps the problems that it hands on, so other ranks solve the work of a lost rank
/// again. Data that only the lost rank held (an own_part, a part of a distributed solution) is
/// lost: every rank throws lost_rank_error.
///
/// Throws, on every rank and after the run has drained: task_error if a function of the job throws
/// (the task number counts the job calls that rank had completed); source_error if the source
/// throws; usage_error for options that exclude each other; protocol_error if the ranks do not make
/// the same call; lost_rank_error as above, and if the root is lost and the body of run_main cannot run
/// again.
///
/// Source: [Hyper, §3 and §5]. docs/reference/divide-and-conquer.md has examples.
template <problem_source Source, class Job>
result<placed_solution<detail::solution_of<Job>>> divide_and_conquer(
    context& ctx, Source&& source, Job const& job, any_division const& how,
    divide_and_conquer_options const& options = {});

}  // namespace skel

#include "skel/detail/divide_adapter.hpp"
