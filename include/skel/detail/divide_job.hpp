// Concepts for the members that a divide_and_conquer job must or may have.
#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "skel/detail/conversion.hpp"

namespace skel::detail {

using problem_sizes = std::vector<std::pair<std::string, double>>;

template <class Job>
constexpr bool seen_to_narrow() {
  if constexpr (requires { &Job::combine; })
    return !receives<decltype(&Job::combine), typename Job::solution, typename Job::solution>;
  else
    return false;
}
template <class Job>
concept combines_two = requires(Job const& job, typename Job::solution s) {
  { job.combine(std::move(s), std::move(s)) } -> becomes<typename Job::solution>;
} && !seen_to_narrow<Job>();
template <class Job>
concept combines_all = requires(Job const& job, std::vector<typename Job::solution> all) {
  { job.combine(std::move(all)) } -> becomes<typename Job::solution>;
};
template <class Job>
concept solves = requires(Job const& job, typename Job::problem const& p) {
  { job.solve(p) } -> becomes<typename Job::solution>;
};
template <class Job>
concept solves_with_threads = requires(Job const& job, typename Job::problem const& p, unsigned threads) {
  { job.solve(p, threads) } -> becomes<typename Job::solution>;
};
template <class Job>
concept knows_small = requires(Job const& job, typename Job::problem const& p) {
  { job.small(p) } -> std::convertible_to<bool>;
};
template <class Job>
concept divides_unevenly =
    requires(Job const& job, typename Job::problem const& p, double share) { job.divide(p, share); };
template <class Job>
concept measures = requires(Job const& job, typename Job::problem const& p) {
  { job.measure(p) } -> std::convertible_to<problem_sizes>;
};

}  // namespace skel::detail
