// Runs a program's body on a simulated cluster: the skeletons and their protocols are the very same code, but
// time is virtual. docs/simulation.md says what is modelled and what is not.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "skel/context.hpp"
#include "skel/sim/platform.hpp"

namespace skel::sim {

struct run_options {
  std::string program = "skel";  ///< in front of the line on standard error when a rank fails
  bool trace = false;            ///< keep spans, as context_options::trace does
  double watchdog_seconds = 0;   ///< virtual; as context_options::watchdog_seconds
  /// Silence after which a rank is taken for lost, as context_options::suspect_after_seconds; 0: never.
  double suspect_after_seconds = 5;
  /// Instead of it, or beside it: so long after a rank's death the root is told by the simulator (and
  /// everybody, if it was the root).
  std::optional<double> detection_seconds{};
  /// The simulation fails when its clock passes this.
  double time_limit_seconds = std::numeric_limits<double>::infinity();
};

struct outcome {
  int exit_code = 0;    ///< as run_main would return on the root; 1 when the root died or nothing moved
  std::string failure;  ///< why the simulation itself failed, if it did
  double seconds = 0;   ///< virtual, until the last rank has ended
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
};

/// Calls `body` once per rank of the platform, as run_main does, each rank a fiber of this thread with one
/// compute thread. Deterministic: the same body and platform give the same times to the last bit, as long as
/// the body does not look at the clock or the threads of the real machine.
///
/// Once per process (SimGrid cannot be started again): a second call throws usage_error.
///
///     skel::sim::run(skel::sim::platform::ready("lee-1997-14"), [](skel::context& ctx) {
///       auto const [report] = skel::farm(ctx, skel::indices(512),
///           [](std::uint64_t line) { skel::sim::spend(1.2); return line; }, skel::schedule::guided{}, ...);
///       if (ctx.is_root()) std::printf("%g virtual seconds\n", report.seconds);
///     });
outcome run(platform const& where, std::function<void(context&)> const& body,
            run_options const& options = {});

/// Lets the calling rank compute for `seconds` at power 1: virtual time passes, as long as its machine needs
/// for it. Meanwhile the rank answers messages, as it does in reality. From a body, a task or a sink, not
/// from a merge. Outside of run() it throws usage_error.
void spend(double seconds);

/// Virtual seconds since the simulation began; usage_error outside of run().
[[nodiscard]] double now();

/// From now on `rank` is dead, as by a failure of the platform: neither sends nor receives any more. May be
/// called by any rank, e.g. from the sink.
void kill(int rank);

}  // namespace skel::sim
