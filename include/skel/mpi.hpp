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

#include <memory>
#include <utility>

#include "skel/context.hpp"

namespace skel {

namespace detail {

/// Declared here only for the constructor of context.
[[nodiscard]] std::shared_ptr<engine> make_mpi_engine(MPI_Comm comm, context_options options);

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

}  // namespace skel
