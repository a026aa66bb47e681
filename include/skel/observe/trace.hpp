// What a rank did when: a bounded buffer of spans, written as Chrome trace events (Perfetto opens them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace skel::observe {

enum class activity : std::uint8_t { compute, idle, send, receive, sink };

/// One span of one thread; seconds on this rank's clock since the start of the run. Trivially copyable: spans
/// travel to the root as bytes.
struct trace_span {
  double begin = 0;
  double end = 0;
  std::uint64_t first_task = 0;  ///< compute, sink: first task of the range; send, receive: the peer's rank
  std::uint64_t count = 0;       ///< compute, sink: tasks; send, receive: bytes
  std::uint32_t thread = 0;      ///< compute thread; above them one lane for messages and one for the sink
  activity what = activity::compute;
};

/// Keeps the newest `capacity` spans; older ones are dropped and counted, so that a long run cannot grow.
class trace_buffer {
 public:
  static constexpr std::size_t default_capacity = 65536;
  explicit trace_buffer(std::size_t capacity = default_capacity) : capacity_(capacity) {}

  void add(trace_span const& span);
  /// Spans in the order of their recording, oldest first, and how many were dropped. Empties the buffer.
  std::vector<trace_span> take(std::uint64_t& dropped);

 private:
  std::mutex mutex_;
  std::size_t capacity_;
  std::size_t next_ = 0;  // where the next span goes once the buffer is full
  std::uint64_t dropped_ = 0;
  std::vector<trace_span> spans_;
};

struct rank_trace {
  int rank = 0;
  std::string host;
  std::string label;          ///< of the run, e.g. "farm 2: render"
  double offset_seconds = 0;  ///< start of the run since the start of the context
  std::uint64_t dropped = 0;
  std::vector<trace_span> spans;
};

/// Writes all ranks' spans as one Chrome trace (JSON object format): process = rank, thread = compute thread.
/// The file appears under its name only when it is whole. Throws skel::error when it cannot be written.
void write_chrome_trace(std::string const& path, std::span<rank_trace const> traces);

}  // namespace skel::observe
