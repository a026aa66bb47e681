#include "transport/transport.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace skel::transport {

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

// A shared packet refers to the pool only, because its last owner may outlive the transport.
std::shared_ptr<packet> transport::share(packet what) {
  struct shared_packet {
    packet what;
    std::weak_ptr<spare_buffers> from;
    shared_packet(packet p, std::weak_ptr<spare_buffers> pool) : what(std::move(p)), from(std::move(pool)) {}
    shared_packet(shared_packet const&) = delete;
    shared_packet& operator=(shared_packet const&) = delete;
    ~shared_packet() {
      if (auto const pool = from.lock()) pool->give(std::move(what).release());
    }
  };
  auto const owner = std::make_shared<shared_packet>(std::move(what), spare_);
  return {owner, &owner->what};
}

}  // namespace skel::transport
