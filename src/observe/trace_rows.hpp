// What the formats of traces share: the processes and their lanes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "skel/observe/trace.hpp"

namespace skel::observe {

/// One rank. It has one trace per run.
struct process_row {
  std::string host;
  std::uint64_t dropped = 0;
  std::map<std::uint32_t, activity> lanes;  ///< by the activity recorded first in the lane
};

[[nodiscard]] std::map<int, process_row> processes(std::span<rank_trace const> traces);
/// What the formats call an activity, its lane and its two numbers, trace_span::first_task and ::count.
struct activity_text {
  char const* name;
  char const* lane;  ///< null: that of a compute thread, which has a number
  char const* first;
  char const* count;  ///< null: it has no such number
};
[[nodiscard]] activity_text const& text_of(activity what);
/// Whether it has no duration.
[[nodiscard]] bool is_moment(activity what);
[[nodiscard]] std::string process_name(int rank, process_row const& row);
[[nodiscard]] std::string lane_name(std::uint32_t lane, activity what);

/// The OTF2 part of write_trace() and check_trace_file(); throws usage_error if this build has none.
void write_otf2_trace(std::string const& path, std::span<rank_trace const> traces);
void check_otf2_path(std::string const& path);

}  // namespace skel::observe
