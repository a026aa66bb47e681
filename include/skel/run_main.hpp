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
/// Variables that it captures by reference keep the values that the interrupted attempt gave them, so it sets
/// them anew.
template <std::invocable<context&> Body>
struct restartable {
  Body body;  ///< copied
  /// Calls it.
  std::invoke_result_t<Body&, context&> operator()(context& ctx) { return body(ctx); }
};
/// For compilers that do not deduce the type of an aggregate.
template <class Body>
restartable(Body) -> restartable<Body>;

namespace detail {
template <class Body>
inline constexpr bool may_restart = std::is_empty_v<Body> || std::is_function_v<std::remove_pointer_t<Body>>;
template <class Body>
inline constexpr bool may_restart<restartable<Body>> = true;

/// Calls the body of run_main or survive; returns its exit code.
template <std::invocable<context&> Body>
int exit_code_of_body(Body& body, context& ctx) {
  using returned = std::invoke_result_t<Body&, context&>;
  static_assert(
      std::is_void_v<returned> || std::is_same_v<returned, int>,
      "skel::run_main, skel::survive: the body must return nothing, or an int that becomes the exit code.");
  if constexpr (std::is_same_v<returned, int>)
    return body(ctx);
  else
    return static_cast<void>(body(ctx)), 0;
}
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
/// (context::attempt() returns 2), so sinks receive all results again. This needs a body that may run twice,
/// such as a function or a lambda that captures nothing. Any other is marked:
///
///     return skel::run_main(argc, argv, skel::restartable([&](skel::context& ctx) { ... }));
///
/// A body that is not marked ends on every rank with code 1, and so does one that has begun a call with
/// checkpoints, from which a later run goes on. The same happens if at most half of the ranks are left and it
/// is not certain that the others have ended. docs/reference/failure-contract.md says what a body that runs
/// twice must not do.
///
/// The body returns nothing or an int. The exit code on every rank is that of the lowest rank whose
/// body returned a nonzero code. A failure takes precedence.
template <std::invocable<context&> Body>
int run_main(int argc, char** argv, Body&& body) {
  auto const with_code = [&body](context& ctx) { return detail::exit_code_of_body(body, ctx); };
#if SKEL_WITH_MPI
  return detail::run_main_mpi(argc, argv, with_code, detail::may_restart<std::remove_cvref_t<Body>>);
#else
  return detail::run_main_alone(argc, argv, with_code);
#endif
}

}  // namespace skel
