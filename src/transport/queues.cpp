#include "transport/queues.hpp"

#include <chrono>
#include <thread>

namespace skel::transport {

void queues::put(int to, transport::arrival a) {
  auto& box = inbox_[static_cast<std::size_t>(to)];
  {
    std::lock_guard const lock(box.mutex);
    box.packets.push_back(std::move(a));
  }
  box.filled.notify_all();
}

std::optional<transport::arrival> queues::take(int rank) {
  auto& box = inbox_[static_cast<std::size_t>(rank)];
  std::lock_guard const lock(box.mutex);
  if (box.packets.empty()) return std::nullopt;
  auto first = std::move(box.packets.front());
  box.packets.pop_front();
  return first;
}

void queues::wait(int rank, double seconds) {
  auto& box = inbox_[static_cast<std::size_t>(rank)];
  std::unique_lock lock(box.mutex);
  box.filled.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return !box.packets.empty(); });
}

// The receiver may take the packet's buffer for its own use, so shared or received memory is copied.
void queue_transport::send(int to, packet what) {
  auto const bytes = what.bytes();
  all_->put(to, {rank_, packet::received({bytes.begin(), bytes.end()})});
  recycle(std::move(what).release());
}

void queue_transport::wait(double seconds) {
  if (seconds <= 0)
    std::this_thread::yield();
  else
    all_->wait(rank_, seconds);
}

}  // namespace skel::transport
