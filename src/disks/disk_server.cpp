#include "disk_server.hpp"

#include <utility>

#include "skel/error.hpp"

namespace skel::detail {

disk_server::disk_server(host_info host, disk_outbox& answers) : disk_(std::move(host)), answers_(answers) {}

disk_server::~disk_server() {
  {
    std::lock_guard const held(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void disk_server::take(int from, transport::packet message) {
  {
    std::lock_guard const held(mutex_);
    requests_.push_back({from, std::move(message)});
    ++unanswered_;
    if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  }
  changed_.notify_all();
}

void disk_server::close_files_of(int rank) {
  {
    std::lock_guard const held(mutex_);
    if (!thread_.joinable()) return;  // no rank has opened any
  }
  take(rank, encode(0, disk_request{.what = disk_call::close_all}));
}

void disk_server::serve() {
  std::unique_lock held(mutex_);
  for (;;) {
    changed_.wait(held, [&] { return ending_ || !requests_.empty(); });
    if (ending_) return;
    auto const next = std::move(requests_.front());
    requests_.pop_front();
    held.unlock();
    try {
      auto const [number, r] = decode_request(next.message.bytes());
      auto a = disk_.perform(next.from, r);
      if (number != 0) answers_.post(next.from, encode(number, std::move(a)));
    } catch (protocol_error const&) {  // NOLINT(bugprone-empty-catch): a malformed request gets no answer
    }
    --unanswered_;
    answers_.wake();
    held.lock();
  }
}

}  // namespace skel::detail
