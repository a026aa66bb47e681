// Relative computing power of this rank, measured within 20 milliseconds.
#pragma once

namespace skel::detail {

/// Returns steps per microsecond of wall time of a fixed loop of dependent integer and floating-point
/// operations. It runs for longer than a time slice of the operating system, so that a rank that shares its
/// core with other load has less power. Every rank runs the same loop, so ratios are meaningful.
[[nodiscard]] double measured_power();

}  // namespace skel::detail
