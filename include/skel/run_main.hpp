// The main function of a skel program: MPI up and down, errors to exit codes.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>

#include "skel/context.hpp"

namespace skel {

namespace detail {
int run_main_alone(int argc, char** argv, std::function<int(context&)> const& body);
int run_main_mpi(int argc, char** argv, std::function<int(context&)> const& body);
}  // namespace detail

/// Runs body(context&) once per rank and returns the exit code: 0 done, 1 failed, 2 bad usage or bad input.
/// Under mpiexec the ranks are MPI processes; otherwise one process with threads does the whole job.
/// An exception that escapes is printed once, on one line `program: text`, by the lowest rank that failed;
/// the other ranks are told and leave with the same exit code. After the loss of a rank the process ends by
/// _exit.
///
/// The body may return an int: the job's exit code, on every rank, is that of the lowest rank whose body
/// returned another one than 0. A failure counts more than what other ranks returned.
template <std::invocable<context&> Body>
int run_main(int argc, char** argv, Body&& body) {
  using returned = std::invoke_result_t<Body&, context&>;
  static_assert(std::is_void_v<returned> || std::is_same_v<returned, int>,
                "skel::run_main: the body must return nothing, or an int that becomes the exit code.");
  std::function<int(context&)> const with_code = [&body](context& ctx) -> int {
    if constexpr (std::is_same_v<returned, int>)
      return std::invoke(body, ctx);
    else
      return static_cast<void>(std::invoke(body, ctx)), 0;
  };
#if SKEL_WITH_MPI
  return detail::run_main_mpi(argc, argv, with_code);
#else
  return detail::run_main_alone(argc, argv, with_code);
#endif
}

}  // namespace skel
