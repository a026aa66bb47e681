// User-level failure mitigation (ULFM): Open MPI 5 has it, and uses it when started with --with-ft ulfm.
#pragma once

#include <mpi.h>

namespace skel::transport {

/// The functions that skel calls. They are looked up at run time, so that a program that was built with an
/// MPI without them uses them with one that has them.
struct ulfm {
  int (*acknowledge)(MPI_Comm);
  int (*acknowledged)(MPI_Comm, MPI_Group*);
  int (*revoke)(MPI_Comm);
  int (*shrink)(MPI_Comm, MPI_Comm*);

  /// Null if this MPI has none, or was not started with them.
  [[nodiscard]] static ulfm const* active();
  /// Whether an error code tells of a lost rank or of a revoked communicator.
  [[nodiscard]] static bool means_loss(int code);
};

}  // namespace skel::transport
