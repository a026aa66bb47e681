// How this process was started.
#pragma once

#include <mpi.h>

#include <string>

namespace skel::detail {

/// Detects that the launcher announces several processes but MPI knows only one, because it belongs
/// to another MPI. Returns one line that names both, or an empty text. `size` is that of
/// MPI_COMM_WORLD.
[[nodiscard]] std::string launcher_mismatch(int size);

/// Whether the launcher lets the other ranks continue when one dies, as with skel-mpiexec or Open
/// MPI 4's orte_enable_recovery. Otherwise mpiexec ends all of them.
[[nodiscard]] bool launcher_survives_losses();

/// Number of cores that the ranks of a communicator (all on one host) may use together: the union
/// of their affinity masks, limited by their cgroup's quota. Collective.
[[nodiscard]] int cores_of_all(MPI_Comm here, int own_cores);

}  // namespace skel::detail
