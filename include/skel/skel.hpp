// Includes all skeletons and the headers that their calls need. Does not include headers that most
// programs do not need: skel/serialization.hpp (types with a serialize() function),
// skel/atomic_file.hpp, skel/hash.hpp, skel/bytes.hpp, and the folders model, observe, sim and
// storage.
#pragma once

/// Parallel skeletons over MPI: the user writes the code of one task.
namespace skel {
/// Values as bytes: little-endian, with varints for counts.
namespace bytes {}
/// Observation of runs: reports as JSON, cost samples, progress and traces.
namespace observe {}
/// Cost models: fitted to measurements and composed into predictions.
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
#include "skel/everywhere.hpp"
#include "skel/farm.hpp"
#include "skel/gather.hpp"
#include "skel/immutable.hpp"
#include "skel/multi_host.hpp"
#include "skel/on_error.hpp"
#include "skel/report.hpp"
#include "skel/ring_steal.hpp"
#include "skel/run_main.hpp"
#include "skel/run_threads.hpp"
#include "skel/sample_scaling.hpp"
#include "skel/schedule.hpp"
#include "skel/sink.hpp"
#include "skel/source.hpp"
#include "skel/stop.hpp"
#include "skel/transfer.hpp"
#include "skel/worker.hpp"
