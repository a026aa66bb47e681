// Concepts for the required and the optional members of a multi_host job.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "skel/detail/conversion.hpp"
#include "skel/detail/function_reference.hpp"
#include "skel/worker.hpp"

namespace skel::detail {

template <class Job>
concept reads_whole =
    requires(Job const& job, std::uint64_t n, typename Job::carried& c, typename Job::unit& u) {
      { job.read(n, c, u) } -> std::convertible_to<std::uint64_t>;
    };
template <class Job>
concept reads_in_parts =
    requires(Job const& job, std::uint64_t n, typename Job::carried& c, typename Job::unit& u,
             function_reference<void(std::uint64_t)> const& ready) {
      { job.read(n, c, u, ready) } -> std::convertible_to<std::uint64_t>;
    };
template <class Job>
concept reads_units = reads_whole<Job> || reads_in_parts<Job>;
template <class Job>
concept begins_anywhere =
    requires(Job const& job, std::uint64_t n, typename Job::carried& c, typename Job::unit& u,
             function_reference<void(std::uint64_t)> const& ready) {
      { job.read_first(n, c, u, ready) } -> std::convertible_to<std::uint64_t>;
    };
template <class Job>
concept has_history = requires(Job const& job) {
  { job.history() } -> std::convertible_to<std::uint64_t>;
};
template <class Job>
inline constexpr bool processes_with_worker =
    requires(Job const& job, typename Job::packet const& p, std::size_t i, worker_info const& where) {
      { job.process(p, i, where) } -> becomes<typename Job::result>;
    };
template <class Job>
inline constexpr bool processes = requires(Job const& job, typename Job::packet const& p, std::size_t i) {
  { job.process(p, i) } -> becomes<typename Job::result>;
};
template <class Job>
concept processes_pieces = processes<Job> || processes_with_worker<Job>;

}  // namespace skel::detail
