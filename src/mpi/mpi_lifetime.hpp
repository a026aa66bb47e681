// When MPI may be called, and what happens to contexts that outlive it.
#pragma once

#include <cstdint>
#include <memory>

namespace skel::detail {

class engine;

enum class mpi : std::uint8_t { not_started, running, ended };
[[nodiscard]] mpi mpi_state();

inline constexpr char const* after_mpi = "MPI has ended: skeleton calls must come before MPI_Finalize";

/// MPI_Finalize closes this engine's wires first, so that a context may outlive MPI. Inside of run_main it
/// ends the job, as MPI_Init does: MPI is run_main's.
void watch_finalize(std::shared_ptr<engine> const& of);

}  // namespace skel::detail
