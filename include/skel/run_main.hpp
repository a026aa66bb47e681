// The main function of a skel program: starts and ends MPI, and turns errors into exit codes.
//
//     int main(int argc, char** argv) {
//       return skel::run_main(argc, argv, [](skel::context& ctx) { ... });
//     }
#pragma once

#include <concepts>
#include <type_traits>

#include "skel/context.hpp"
#include "skel/detail/function_reference.hpp"

namespace skel {

namespace detail {
int run_main_alone(int argc, char** argv, function_reference<int(context&)> body);
int run_main_mpi(int argc, char** argv, function_reference<int(context&)> body);
}  // namespace detail

/// Runs body(context&) once per rank and returns the exit code: 0 success, 1 failure, 2 bad usage
/// or bad input. Under mpiexec the ranks are MPI processes. Otherwise one process with threads runs
/// the whole job.
///
/// An exception that escapes the body is printed once, as one line `program: text`, for the lowest
/// rank that failed. The other ranks are notified and exit with the same code. After the loss of a
/// rank the process ends with _exit.
///
/// The body returns nothing or an int. The exit code on every rank is that of the lowest rank whose
/// body returned a nonzero code. A failure takes precedence.
template <std::invocable<context&> Body>
int run_main(int argc, char** argv, Body&& body) {
  using returned = std::invoke_result_t<Body&, context&>;
  static_assert(std::is_void_v<returned> || std::is_same_v<returned, int>,
                "skel::run_main: the body must return nothing, or an int that becomes the exit code.");
  auto const with_code = [&body](context& ctx) -> int {
    if constexpr (std::is_same_v<returned, int>)
      return body(ctx);
    else
      return static_cast<void>(body(ctx)), 0;
  };
#if SKEL_WITH_MPI
  return detail::run_main_mpi(argc, argv, with_code);
#else
  return detail::run_main_alone(argc, argv, with_code);
#endif
}

}  // namespace skel
