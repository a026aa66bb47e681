// Relative computing power of this rank, measured within a few milliseconds.
#pragma once

namespace skel::detail {

/// Returns steps per microsecond of a fixed loop of dependent integer and floating-point
/// operations: the best of several short runs, because disturbances only slow it down. Every rank
/// runs the same loop, so ratios are meaningful.
[[nodiscard]] double measured_power();

}  // namespace skel::detail
