// divide_and_conquer: problems that divide and solutions that combine, over all ranks and their threads.
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
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "skel/context.hpp"
#include "skel/detail/conversion.hpp"
#include "skel/detail/divide_job.hpp"
#include "skel/detail/divide_placement.hpp"
#include "skel/error.hpp"
#include "skel/report.hpp"
#include "skel/source.hpp"

namespace skel {

/// Kinds of divide-and-conquer by the names that the literature has for them. Source of all: the paper on the
/// DC_Call skeleton ("hypercube divide and conquer"), section 3.
namespace division {

/// Groups of ranks halve; ranks of equal place in two groups exchange their solutions: every rank ends with
/// the solution.
struct hypercube {};
/// Classical: subproblems travel to other ranks, solutions return; the root ends with the solution.
struct tree {};
/// The data is distributed already, or on every rank: dividing needs no communication. The root ends with the
/// solution.
struct embarrassing {};
/// Combining is trivial: each rank keeps its part of the solution.
struct distributed {};

}  // namespace division

/// Any of them, chosen when the program runs.
class any_division {
 public:
  enum class kind : std::uint8_t { hypercube, tree, embarrassing, distributed };
  any_division(division::hypercube) : kind_(kind::hypercube) {}
  any_division(division::tree) : kind_(kind::tree) {}
  any_division(division::embarrassing) : kind_(kind::embarrassing) {}
  any_division(division::distributed) : kind_(kind::distributed) {}
  /// "hypercube", "tree", "embarrassing", "distributed"; anything else throws usage_error that lists them.
  explicit any_division(std::string_view name);

  [[nodiscard]] kind which() const { return kind_; }
  friend bool operator==(any_division const&, any_division const&) = default;

 private:
  kind kind_;
};

[[nodiscard]] std::string to_string(any_division const& division);

/// Everything about a divide_and_conquer call beside source, job and kind. The same on every rank.
struct divide_and_conquer_options {
  /// A rank's problem is divided on, as far as it goes, until there are so many pieces for each of its
  /// compute threads. Fewer pieces are combined sooner, more keep unequal threads busy.
  unsigned pieces_per_thread = 4;
  std::stop_token stop{};                      ///< ends the run early when requested on any rank
  std::optional<double> time_limit_seconds{};  ///< ends the run early
  std::string label{};                         ///< for progress and trace; default: the kind's name
  /// Whether a replicated_problem is compared over the ranks. Empty: in builds with assertions, NDEBUG
  /// undefined.
  std::optional<bool> check_problem{};
  /// A problem that was worked on by this many lost ranks ends the call with task_error: it is likely to end
  /// the others, too. 0: none does.
  unsigned max_losses_per_task = 2;
};

/// Satisfied by a type that names problem and solution and has the four operations:
///
///     struct sum_of_numbers {
///       using problem = std::vector<double>;
///       using solution = double;
///       bool trivial(problem const& p) const;                     // cannot, or need not, be divided
///       solution conquer(problem const& p) const;                 // the trivial case
///       std::array<problem, 2> divide(problem const& p) const;    // or a vector of two or more
///       solution combine(solution a, solution b) const;           // or of a vector of all, in their order
///     };
///
/// It may have more:
///
///       solution solve(problem const& p) const;                   // sequential, instead of plain recursion
///       solution solve(problem const& p, unsigned threads) const; // with so many threads of its own
///       bool small(problem const& p) const;                       // from here on solve(), always
///       std::array<problem, 2> divide(problem const& p, double share) const;  // the first gets this share
///       std::vector<std::pair<std::string, double>> measure(problem const& p) const;  // for the cost model
template <class Job>
concept divide_and_conquer_problem = requires(Job const& job, typename Job::problem const& p) {
  { job.trivial(p) } -> std::convertible_to<bool>;
  { job.conquer(p) } -> detail::becomes<typename Job::solution>;
  { *std::begin(job.divide(p)) } -> detail::becomes<typename Job::problem>;
} && (detail::combines_two<Job> || detail::combines_all<Job>);

/// What a divide_and_conquer call returns as its value: the solution, on the ranks that have it.
///
///     auto const [sorted, report] = skel::divide_and_conquer(ctx, source, job, skel::division::tree{});
///     if (sorted.here()) print(*sorted);
template <class Solution>
struct placed_solution {
  placement where = placement::everywhere;  ///< everywhere, on_root or in_parts
  std::vector<Solution> parts;  ///< what this rank has; in_parts: in the order of the ranks, all there is

  /// Whether this rank has the solution.
  [[nodiscard]] bool here() const { return where != placement::in_parts && !parts.empty(); }
  /// The solution. Throws usage_error on a rank that does not have it.
  [[nodiscard]] Solution const& operator*() const& {
    if (!here())
      throw usage_error(
          "the solution is not on this rank: see placed_solution::where and placed_solution::here()");
    return parts.front();
  }
  [[nodiscard]] Solution& operator*() & { return const_cast<Solution&>(*std::as_const(*this)); }
  [[nodiscard]] Solution&& operator*() && { return std::move(**this); }
  [[nodiscard]] Solution const* operator->() const { return &**this; }
};

/// Divides the problem, solves its parts on all ranks, and combines their solutions.
///
/// Collective: every rank of `ctx` makes the same call. `how`: division::hypercube{} (every rank ends
/// with the solution), division::tree{} and division::embarrassing{} (the root does), division::distributed{}
/// (each rank keeps its part), or an any_division. Any number of ranks; a division may make any number of
/// problems. The job's functions are called concurrently by the compute threads of a rank, on a const object.
/// Inside a rank the problem is divided further, so that all its threads have pieces to solve, unless
/// job.solve takes threads.
///
/// The solution is the same, to the byte, for every number of ranks and threads, and after losses
/// - always, if the job has no solve(), or has small(): then the tree of divisions is the problem's own
///   (with divide(p, share) it is not, for numbers of ranks that are no powers of two);
/// - else if solve(p) equals the combination of the solutions of the parts of p. Sums of floating-point
///   numbers do not: give them small().
/// - With own_part the parts are combined in pairs by rank: the same if combine is associative.
///
/// Losses: who divides keeps what it hands on, so that whatever a lost rank had is solved again. What only
/// the lost rank had (an own_part, a part of a distributed solution) is lost: lost_rank_error on every rank.
///
/// Throws, on every rank and after the run has drained: task_error when a function of the job throws (its
/// task number: how many jobs that rank had done); source_error when the source throws; usage_error for
/// choices that exclude each other; protocol_error when the ranks do not make the same call; lost_rank_error
/// as above, and when the root is lost.
///
/// Source: the paper on the DC_Call skeleton ("hypercube divide and conquer"), sections 3 and 5.
/// docs/divide-and-conquer.md has examples.
template <problem_source Source, class Job>
result<placed_solution<detail::solution_of<Job>>> divide_and_conquer(
    context& ctx, Source&& source, Job const& job, any_division const& how,
    divide_and_conquer_options const& options = {});

}  // namespace skel

#include "skel/detail/divide_adapter.hpp"
