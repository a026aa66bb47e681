// Serves this rank's disk to the other ranks, in a thread of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "disk_host.hpp"
#include "disk_outbox.hpp"

namespace skel::detail {

/// Performs requests in the order of their arrival, and posts the answers. The first request starts the
/// thread.
class disk_server {
 public:
  disk_server(host_info host, disk_outbox& answers);
  ~disk_server();
  disk_server(disk_server const&) = delete;
  disk_server& operator=(disk_server const&) = delete;

  void take(int from, transport::packet message);
  /// Closes the files that a lost rank has left open.
  void close_files_of(int rank);
  /// Whether it has yet to answer a request.
  [[nodiscard]] bool busy() const { return unanswered_ > 0; }

 private:
  struct request {
    int from = 0;
    transport::packet message;
  };
  void serve();

  disk_host disk_;  // used by the thread only
  disk_outbox& answers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<request> requests_;
  std::atomic<int> unanswered_{0};
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace skel::detail
