// Relative computing power of this rank, measured in a few milliseconds.
#pragma once

namespace skel::detail {

/// Steps per microsecond of a fixed loop of dependent integer and floating-point operations, the best of
/// several short runs (what disturbs, only slows). The same loop on every rank, so the ratios mean something.
[[nodiscard]] double measured_power();

}  // namespace skel::detail
