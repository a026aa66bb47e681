#include "skel/transport/transport.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace skel::transport {

namespace {
constexpr std::size_t most_spare = 64;  // buffers kept for reuse
}

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

std::vector<std::byte> transport::buffer() {
  if (spare_.empty()) return {};
  auto bytes = std::move(spare_.back());
  spare_.pop_back();
  return bytes;
}

void transport::recycle(std::vector<std::byte> bytes) {
  if (bytes.capacity() > 4096 && spare_.size() < most_spare) spare_.push_back(std::move(bytes));
}

}  // namespace skel::transport
