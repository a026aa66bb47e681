#include "job_end.hpp"

#include <algorithm>
#include <cstdlib>

#include "text.hpp"

namespace skel::detail {

namespace {

// A time of Slurm's, in seconds of the Unix epoch.
std::optional<double> slurm_time(char const* name) {
  char const* const text = std::getenv(name);
  return text == nullptr ? std::nullopt : to_number<double>(text);
}

}  // namespace

std::optional<std::chrono::steady_clock::time_point> end_of_job() {
  auto const end = slurm_time("SLURM_JOB_END_TIME");
  auto const start = slurm_time("SLURM_JOB_START_TIME");
  if (!end || !start || !(*start < *end)) return std::nullopt;
  using clock = std::chrono::steady_clock;
  using seconds = std::chrono::duration<double>;
  auto const now = std::chrono::duration_cast<seconds>(std::chrono::system_clock::now().time_since_epoch());
  seconds const left(*end - std::min(60.0, (*end - *start) / 10) - now.count());
  return clock::now() + std::chrono::duration_cast<clock::duration>(std::min(left, seconds(3.2e9)));
}

}  // namespace skel::detail
