// The newest spans of one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "skel/observe/trace.hpp"

namespace skel::observe {

/// Keeps the newest `capacity` spans. Older ones are dropped and counted, which bounds the memory
/// of long runs.
class trace_buffer {
 public:
  static constexpr std::size_t default_capacity = 65536;
  explicit trace_buffer(std::size_t capacity = default_capacity) : capacity_(capacity) {}

  void add(trace_span const& span);
  /// Removes and returns the spans in the order of recording, oldest first. `dropped` receives the
  /// number of dropped spans.
  std::vector<trace_span> take(std::uint64_t& dropped);

 private:
  std::mutex mutex_;
  std::size_t capacity_;
  std::size_t next_ = 0;  // position of the next span once the buffer is full
  std::uint64_t dropped_ = 0;
  std::vector<trace_span> spans_;
};

}  // namespace skel::observe
