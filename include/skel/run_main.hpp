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
int run_main_mpi(int argc, char** argv, function_reference<int(context&)> body, bool restarts);
}  // namespace detail

/// Says that a body may run again, on the ranks that are left, when the root is lost (see run_main).
template <std::invocable<context&> Body>
struct restartable {
  Body body;
  std::invoke_result_t<Body&, context&> operator()(context& ctx) { return body(ctx); }
};
template <class Body>
restartable(Body) -> restartable<Body>;

namespace detail {
template <class Body>
inline constexpr bool may_restart = std::is_empty_v<Body> || std::is_function_v<std::remove_pointer_t<Body>>;
template <class Body>
inline constexpr bool may_restart<restartable<Body>> = true;
}  // namespace detail

/// Runs body(context&) once per rank and returns the exit code: 0 success, 1 failure, 2 bad usage
/// or bad input. Under mpiexec the ranks are MPI processes. Otherwise one process with threads runs
/// the whole job.
///
/// An exception that escapes the body is printed once, as one line `program: text`, for the lowest
/// rank that failed. The other ranks are notified and exit with the same code. After the loss of a
/// rank the process ends with _exit.
///
/// When the root is lost, the calls in progress end on the other ranks, and these run the body again, from
/// its beginning. Its context then has the ranks that are left, in their order, with a new root
/// (context::attempt() tells), so sinks receive all results again. That needs a body that may run twice, such
/// as a function or one that captures nothing. Another one is marked:
///
///     return skel::run_main(argc, argv, skel::restartable([&](skel::context& ctx) { ... }));
///
/// Otherwise every rank ends with code 1 then, and likewise if at most half of the ranks are left and it is
/// not certain that the others have ended.
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
  return detail::run_main_mpi(argc, argv, with_code, detail::may_restart<std::remove_cvref_t<Body>>);
#else
  return detail::run_main_alone(argc, argv, with_code);
#endif
}

}  // namespace skel
