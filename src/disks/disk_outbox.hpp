// Messages of a rank's disk that wait until they are sent.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "transport/packet.hpp"

namespace skel::detail {

/// Any thread posts messages. The thread that drives communication takes them, because it alone calls the
/// transport; `wake` asks for that, and must not be called under a lock that the engine takes.
class disk_outbox {
 public:
  struct message {
    int to = 0;
    transport::packet what;
  };

  explicit disk_outbox(std::function<void()> wake) : wake_(std::move(wake)) {}
  void post(int to, transport::packet what) {
    std::lock_guard const held(mutex_);
    messages_.push_back({to, std::move(what)});
    empty_ = false;
  }
  void wake() const { wake_(); }
  [[nodiscard]] bool empty() const { return empty_; }
  [[nodiscard]] std::vector<message> take() {
    if (empty_) return {};
    std::lock_guard const held(mutex_);
    empty_ = true;
    return std::exchange(messages_, {});
  }

 private:
  std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<message> messages_;
  std::atomic<bool> empty_{true};  // progress() reads it on every call
};

}  // namespace skel::detail
