#include "trace_buffer.hpp"

#include <algorithm>
#include <utility>

namespace skel::observe {

void trace_buffer::add(trace_span const& span) {
  std::lock_guard const lock(mutex_);
  if (spans_.size() < capacity_) {
    spans_.push_back(span);
    return;
  }
  ++dropped_;
  if (capacity_ == 0) return;
  spans_[next_] = span;
  next_ = (next_ + 1) % capacity_;
}

std::vector<trace_span> trace_buffer::take(std::uint64_t& dropped) {
  std::lock_guard const lock(mutex_);
  std::rotate(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(next_), spans_.end());
  dropped = std::exchange(dropped_, 0);
  next_ = 0;
  return std::exchange(spans_, {});
}

}  // namespace skel::observe
