// All skeletons and what their calls need. Not included, since most programs do not need them:
// skel/serialization.hpp (types with a serialize() function), skel/atomic_file.hpp, skel/hash.hpp,
// skel/bytes.hpp, and the folders model, observe, sim and storage.
#pragma once

/// Parallel skeletons over MPI: the user writes what one task does.
namespace skel {
/// Values as bytes: little-endian, with varints for counts.
namespace bytes {}
/// What a run did: its report as JSON, cost samples, progress and traces.
namespace observe {}
/// Cost models: measured, fitted and composed into predictions.
namespace model {}
/// Erasure codes and stores of checkpoints.
namespace storage {}
/// A simulated cluster with virtual time.
namespace sim {}
}  // namespace skel

#include "skel/broadcast.hpp"
#include "skel/bsp.hpp"
#include "skel/context.hpp"
#include "skel/divide_and_conquer.hpp"
#include "skel/error.hpp"
#include "skel/farm.hpp"
#include "skel/immutable.hpp"
#include "skel/multi_host.hpp"
#include "skel/report.hpp"
#include "skel/ring_steal.hpp"
#include "skel/run_main.hpp"
#include "skel/schedule.hpp"
#include "skel/sink.hpp"
#include "skel/source.hpp"
#include "skel/stop.hpp"
#include "skel/transfer.hpp"
#include "skel/worker.hpp"
