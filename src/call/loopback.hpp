// Messages from a rank to itself.
#pragma once

#include <deque>
#include <utility>

namespace skel::detail {

/// Delivers them one after another, never inside the delivery of another: roles are not re-entered.
template <class Message>
class loopback {
 public:
  void push(Message m) { waiting_.push_back(std::move(m)); }

  template <class F>
  void deliver(F&& each) {
    if (std::exchange(delivering_, true)) return;
    while (!waiting_.empty()) {
      auto m = std::move(waiting_.front());
      waiting_.pop_front();
      each(m);
    }
    delivering_ = false;
  }

 private:
  std::deque<Message> waiting_;
  bool delivering_ = false;
};

}  // namespace skel::detail
