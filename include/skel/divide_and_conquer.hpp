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

/// Groups of ranks halve. Ranks in the same place of two groups exchange their solutions, so every
/// rank ends with the solution.
struct hypercube {};
/// Subproblems travel to other ranks, and solutions return. The root ends with the solution.
struct tree {};
/// The data is already distributed, or on every rank, so dividing needs no communication. The root
/// ends with the solution.
struct embarrassing {};
/// Combining needs no communication: each rank keeps its part of the solution.
struct distributed {};

}  // namespace division

/// A kind that is chosen at run time. The kinds of namespace division convert to it.
class any_division {
 public:
  /// The kinds, in the order of namespace division.
  enum class kind : std::uint8_t {
    hypercube,     ///< division::hypercube
    tree,          ///< division::tree
    embarrassing,  ///< division::embarrassing
    distributed    ///< division::distributed
  };
  /// From one of the kinds.
  any_division(division::hypercube) : kind_(kind::hypercube) {}
  /// From one of the kinds.
  any_division(division::tree) : kind_(kind::tree) {}
  /// From one of the kinds.
  any_division(division::embarrassing) : kind_(kind::embarrassing) {}
  /// From one of the kinds.
  any_division(division::distributed) : kind_(kind::distributed) {}
  /// From "hypercube", "tree", "embarrassing" or "distributed". Another name throws a usage_error
  /// that lists them.
  explicit any_division(std::string_view name);

  /// The kind that was chosen.
  [[nodiscard]] kind which() const { return kind_; }
  friend bool operator==(any_division const&, any_division const&) = default;

 private:
  kind kind_;
};

/// The name that the constructor of any_division reads.
[[nodiscard]] std::string to_string(any_division const& division);

/// Options of a divide_and_conquer call. The same on every rank.
struct divide_and_conquer_options {
  /// A rank divides its problem into this many pieces per compute thread, or fewer where a piece is
  /// trivial. Fewer pieces are combined sooner, more balance unequal threads better.
  unsigned pieces_per_thread = 4;
  stop_condition stop{};                       ///< ends the run early when requested on any rank
  std::optional<double> time_limit_seconds{};  ///< ends the run early; empty: no limit
  std::string label{};                         ///< shown by progress and trace; default: the kind's name
  /// Whether the ranks compare a replicated_problem. Empty: only in builds with assertions (NDEBUG
  /// undefined).
  std::optional<bool> check_problem{};
  /// A problem that was worked on by this many lost ranks ends the call with task_error: it is likely to end
  /// the others, too. 0: none does.
  unsigned max_losses_per_task = 2;
};

/// Satisfied by a job: a type that names its problem and solution and has four operations,
///
///     struct sum_of_numbers {
///       using problem = std::vector<double>;
///       using solution = double;
///       bool trivial(problem const& p) const;                   // whether it cannot, or need not, be
///       divided solution conquer(problem const& p) const;               // solves a trivial problem
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
  placement where = placement::everywhere;  ///< which ranks have what
  /// What this rank has: the solution, nothing, or (in_parts) its own part.
  std::vector<Solution> parts;

  /// Whether this rank has the whole solution.
  [[nodiscard]] bool here() const { return where != placement::in_parts && !parts.empty(); }
  /// The solution. Throws usage_error on a rank that does not have it.
  [[nodiscard]] Solution const& operator*() const& {
    if (!here())
      throw usage_error("the solution is not on this rank: check placed_solution::here() before reading it");
    return parts.front();
  }
  /// The solution. Throws usage_error on a rank that does not have it.
  [[nodiscard]] Solution& operator*() & { return const_cast<Solution&>(*std::as_const(*this)); }
  /// The solution. Throws usage_error on a rank that does not have it.
  [[nodiscard]] Solution&& operator*() && { return std::move(**this); }
  /// A member of the solution. Throws usage_error on a rank that does not have it.
  [[nodiscard]] Solution const* operator->() const { return &**this; }
};

/// Divides the problem, solves its parts on all ranks, and combines their solutions.
///
/// Collective: every rank of `ctx` makes the same call. `how` is a kind of namespace division or an
/// any_division; it decides which ranks end with the solution. Any number of ranks will do, and a
/// division may make any number of problems. The compute threads of a rank call the job's functions
/// concurrently, on a const object. Inside a rank the problem is divided further, so that every
/// thread has pieces to solve, unless job.solve takes threads.
///
/// The solution has the same bytes for every number of ranks and threads, and after losses,
/// - if the job has no solve(), or has small(): the tree of divisions is then the problem's own
///   (but not with divide(p, share), for numbers of ranks that are no powers of two);
/// - otherwise if solve(p) equals the combined solutions of the parts of p. Sums of floating-point
///   numbers do not: give such a job small().
/// - With own_part, the parts are combined in pairs by rank: combine must be associative.
///
/// Losses: a rank keeps the problems it hands on, so the work of a lost rank is solved again. Data
/// that only the lost rank had (an own_part, a part of a distributed solution) is lost: every rank
/// throws lost_rank_error.
///
/// Throws, on every rank and after the run has drained: task_error when a function of the job
/// throws (the task number is the number of jobs that rank had done); source_error when the source
/// throws; usage_error for choices that exclude each other; protocol_error when the ranks do not
/// make the same call; lost_rank_error as above, and when the root is lost.
///
/// Source: [Hyper, §3 and §5]. docs/divide-and-conquer.md has examples.
template <problem_source Source, class Job>
result<placed_solution<detail::solution_of<Job>>> divide_and_conquer(
    context& ctx, Source&& source, Job const& job, any_division const& how,
    divide_and_conquer_options const& options = {});

}  // namespace skel

#include "skel/detail/divide_adapter.hpp"
