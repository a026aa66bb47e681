// The activities of a rank as spans of time, written as Chrome trace events for Perfetto or as
// an OTF2 archive for Vampir and Scalasca.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace skel::observe {

/// The activity of a thread during a span.
enum class activity : std::uint8_t {
  compute,  ///< runs tasks
  idle,     ///< waits
  send,     ///< sends a message
  receive,  ///< receives a message
  sink,     ///< calls the sink
  steal,    ///< has got tasks of another rank: a moment
  loss      ///< the root counts a rank as lost: a moment
};

/// One span of one thread. Seconds count from the start of the run on the root, by the root's clock.
/// Trivially copyable, so that spans travel to the root as bytes.
struct trace_span {
  double begin = 0;              ///< in seconds
  double end = 0;                ///< in seconds
  std::uint64_t first_task = 0;  ///< compute, sink: first task of the range; loss: the rank; else: the peer's
  std::uint64_t count = 0;       ///< compute, sink: tasks; send, receive, steal: bytes
  std::uint32_t thread = 0;      ///< compute thread; above those, one lane for messages and one for the sink
  activity what = activity::compute;  ///< what the thread does
};

/// The spans of one rank in one run.
struct rank_trace {
  int rank = 0;                   ///< in the context
  std::string host;               ///< the rank's host
  std::string label;              ///< of the run, e.g. "farm 2: render"
  double offset_seconds = 0;      ///< start of the run on the root since the start of the context
  std::uint64_t dropped = 0;      ///< oldest spans that were dropped, since only the newest 65,536 are kept
  std::vector<trace_span> spans;  ///< the oldest first
};

/// Writes all ranks' spans as one Chrome trace (JSON object format): process = rank, thread =
/// compute thread. The file appears under its name only when it is complete. Throws skel::error if
/// it cannot be written.
void write_chrome_trace(std::string const& path, std::span<rank_trace const> traces);

/// Writes them as an OTF2 archive if `path` ends in .otf2, otherwise as a Chrome trace. An archive
/// run.otf2 has files run.def and run.marker and a folder run beside it, and replaces an earlier one.
/// Throws skel::error if it cannot be written, usage_error if this build has no OTF2 (SKEL_OTF2).
void write_trace(std::string const& path, std::span<rank_trace const> traces);

/// Throws what write_trace() would throw, before there is a trace.
void check_trace_file(std::string const& path);

}  // namespace skel::observe
