// Runs a program's body on a simulated cluster. The skeletons and their protocols are the same code
// as over MPI; time is virtual. docs/reference/simulation.md describes the model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "skel/context.hpp"
#include "skel/sim/platform.hpp"

namespace skel::sim {

/// Options of run().
struct run_options {
  std::string program = "skel";  ///< begins the line on standard error when a rank fails
  bool trace = false;            ///< as context_options::tracing::on
  /// Virtual seconds of silence until a rank is declared dead, as
  /// context_options::suspect_after_seconds; 0: never.
  double suspect_after_seconds = 5;
};

/// The end of a simulation.
struct outcome {
  int exit_code = 0;          ///< as run_main returns it on the root; 1 when the root died or nothing moved
  std::string failure;        ///< why the simulation itself failed; empty if it succeeded
  double seconds = 0;         ///< virtual, until the last rank ended
  std::uint64_t packets = 0;  ///< sent by all ranks
  std::uint64_t bytes = 0;    ///< sent by all ranks
};

/// Calls `body` once per rank of the platform, as run_main does. Each rank is a fiber of this
/// thread, with one compute thread. Deterministic: the same body and platform give the same times
/// to the last bit, unless the body reads the clock or uses threads of the real machine.
///
/// May be called once per process, since SimGrid cannot be restarted; a second call throws
/// usage_error.
///
///     skel::sim::run(skel::sim::platform::ready("lee-1997-14"), [](skel::context& ctx) {
///       auto const [report] = skel::farm(ctx, skel::indices(512),
///           [](std::uint64_t line) { skel::sim::spend(1.2); return line; }, skel::schedule::guided{}, ...);
///       if (ctx.is_root()) std::printf("%g virtual seconds\n", report.seconds);
///     });
outcome run(platform const& where, std::function<void(context&)> const& body,
            run_options const& options = {});

/// Lets the calling rank compute for `seconds` at power 1. Virtual time passes according to its
/// machine's power, and the rank answers messages meanwhile. May be called from a body, a task or a
/// sink; must not be called from a merge. Throws usage_error outside of run().
void spend(double seconds);

/// Virtual seconds since the simulation began. Throws usage_error outside of run().
[[nodiscard]] double now();

/// Kills `rank`, as a failure of the platform does: it no longer sends or receives. Any rank may
/// call it, e.g. from the sink.
void kill(int rank);

}  // namespace skel::sim
