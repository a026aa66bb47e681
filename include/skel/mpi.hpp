// Contexts in programs that call MPI directly, without Boost.MPI:
//
//     MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
//     {
//       skel::context ctx(MPI_COMM_WORLD);  // or any intracommunicator; collective
//       …
//       auto half = ctx.split(ctx.rank() % 2);
//       MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, skel::communicator_of(half));
//     }
//     MPI_Finalize();
//
// Requires linking skel::mpi.
#pragma once

#include <mpi.h>

#include <concepts>
#include <memory>
#include <utility>

#include "skel/context.hpp"
#include "skel/run_main.hpp"

namespace skel {

namespace detail {

/// Declared here only for the constructor of context.
[[nodiscard]] std::shared_ptr<engine> make_mpi_engine(MPI_Comm comm, context_options options);

int survive_mpi(MPI_Comm comm, function_reference<int(context&)> body, context_options options);

template <>
struct plain_mpi<MPI_Comm> {
  [[nodiscard]] static std::shared_ptr<engine> make_engine(MPI_Comm comm, context_options options) {
    return make_mpi_engine(comm, std::move(options));
  }
};

}  // namespace detail

/// Returns the communicator of a context, see context::communicator(). The context keeps ownership:
/// do not free it. It is valid as long as the context lives. Throws usage_error for a context
/// without MPI.
[[nodiscard]] MPI_Comm communicator_of(context const& ctx);

/// Runs body(context&) on all ranks of an intracommunicator, and again on those that are left whenever the
/// root is lost: what run_main does (skel/run_main.hpp), in a program that has started MPI itself.
/// Collective.
///
///     MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
///     int const code = skel::survive(MPI_COMM_WORLD, [&](skel::context& ctx) { … });
///     MPI_Finalize();
///     return code;
///
/// Any body counts as skel::restartable. Returns the exit code on which the ranks agree, as run_main does. An
/// exception that escapes from the body is printed once, for the lowest rank that failed, and becomes that
/// code: 2 for a usage_error, otherwise 1.
///
/// After the loss of any rank it does not return: the process ends with that code (_exit), since MPI_Finalize
/// and other calls on communicators with lost ranks would wait for them. The body must therefore write what
/// the program writes. Silent ranks are noticed only if MPI was started with at least MPI_THREAD_SERIALIZED,
/// or with context_options::suspect_after_seconds, and between two skeleton calls only with
/// MPI_THREAD_MULTIPLE.
///
/// Throws usage_error for a communicator or options that a context over the communicator would refuse.
template <std::invocable<context&> Body>
[[nodiscard]] int survive(MPI_Comm communicator, Body&& body,
                          context_options const& options = context_options::from_environment()) {
  auto const with_code = [&body](context& ctx) { return detail::exit_code_of_body(body, ctx); };
  return detail::survive_mpi(communicator, with_code, options);
}

}  // namespace skel
