#include "skel/transport/transport.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace skel::transport {

namespace {
constexpr std::size_t most_spare = 64;  // buffers kept for reuse
constexpr std::size_t small = 4096;     // not worth it
}  // namespace

double transport::now() const {
  static auto const start = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void transport::wait(double seconds) {
  if (seconds <= 0)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// A small message does not take away the room of a large one.
std::vector<std::byte> transport::buffer(std::size_t bytes) {
  if (spare_.empty() || (bytes > 0 && bytes <= small)) return {};
  auto const fits_better = [&](auto const& a, auto const& b) {
    bool const fits_a = bytes > 0 && a.capacity() >= bytes, fits_b = bytes > 0 && b.capacity() >= bytes;
    if (fits_a != fits_b) return fits_a;
    return fits_a ? a.capacity() < b.capacity() : a.capacity() > b.capacity();
  };
  auto const best = std::min_element(spare_.begin(), spare_.end(), fits_better);
  auto found = std::move(*best);
  *best = std::move(spare_.back());
  spare_.pop_back();
  if (found.capacity() < bytes) found.clear();  // what is in it need not move
  return found;
}

void transport::recycle(std::vector<std::byte> bytes) {
  if (bytes.capacity() > small && spare_.size() < most_spare) spare_.push_back(std::move(bytes));
}

}  // namespace skel::transport
