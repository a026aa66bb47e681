// When a batch system ends the job.
#pragma once

#include <chrono>
#include <optional>

namespace skel::detail {

/// A tenth of the job's time before its end under Slurm, at most a minute; empty: it is not known.
[[nodiscard]] std::optional<std::chrono::steady_clock::time_point> end_of_job();

}  // namespace skel::detail
