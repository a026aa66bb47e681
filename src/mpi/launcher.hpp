// Questions about how this process was started.
#pragma once

#include <mpi.h>

#include <string>

namespace skel::detail {

/// The launcher says that there are several processes but MPI knows only one: it belongs to another MPI.
/// Returns one line that names both, or nothing when all is well. `size` is that of MPI_COMM_WORLD.
[[nodiscard]] std::string launcher_mismatch(int size);

/// Whether the launcher was told to let the others go on when a rank dies, as skel-mpiexec does, or Open MPI
/// 4's orte_enable_recovery. Otherwise mpiexec ends all of them.
[[nodiscard]] bool launcher_survives_losses();

/// Cores that the ranks of a communicator (all on one host) may use together: the union of their affinity
/// masks, limited by their cgroup's quota. Collective.
[[nodiscard]] int cores_of_all(MPI_Comm here, int own_cores);

}  // namespace skel::detail
