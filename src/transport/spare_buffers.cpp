#include "transport/spare_buffers.hpp"

#include <algorithm>
#include <utility>

namespace skel::transport {

namespace {
constexpr std::size_t most_spare = 64;
constexpr std::size_t small = 4096;
}  // namespace

spare_buffers::spare_buffers() { all_.reserve(most_spare); }

// A small message must not occupy a large buffer.
std::vector<std::byte> spare_buffers::take(std::size_t bytes) {
  if (bytes > 0 && bytes <= small) return {};
  std::lock_guard const lock(mutex_);
  if (all_.empty()) return {};
  auto const fits_better = [&](auto const& a, auto const& b) {
    bool const fits_a = bytes > 0 && a.capacity() >= bytes, fits_b = bytes > 0 && b.capacity() >= bytes;
    if (fits_a != fits_b) return fits_a;
    return fits_a ? a.capacity() < b.capacity() : a.capacity() > b.capacity();
  };
  auto const best = std::min_element(all_.begin(), all_.end(), fits_better);
  auto found = std::move(*best);
  *best = std::move(all_.back());
  all_.pop_back();
  if (found.capacity() < bytes) found.clear();  // the old content need not be moved
  return found;
}

void spare_buffers::give(std::vector<std::byte> bytes) noexcept {
  if (bytes.capacity() <= small) return;
  std::lock_guard const lock(mutex_);
  if (all_.size() < most_spare) all_.push_back(std::move(bytes));  // within capacity: does not allocate
}

}  // namespace skel::transport
