// Carries requests and answers between the ranks' disks and the engine.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "disk_host.hpp"

namespace skel::detail {

/// One per engine. Its thread works on files and queues the messages to send, because only the
/// thread that drives communication calls the transport. wait() blocks until the answer arrives or
/// the rank is lost, so the caller must not hold the engine's lock.
class disk_service {
 public:
  /// `reachable`: whether ranks can send requests to each other at any time. `wake` asks the engine
  /// to send messages.
  disk_service(int rank, int size, host_info host, bool reachable, std::function<void()> wake);
  ~disk_service();
  disk_service(disk_service const&) = delete;
  disk_service& operator=(disk_service const&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return static_cast<int>(lost_.size()); }
  [[nodiscard]] std::string const& host() const { return host_.name; }
  [[nodiscard]] bool reachable() const { return reachable_; }

  // --- from any thread, without the engine's lock ---
  using ticket = std::uint64_t;
  [[nodiscard]] ticket ask(int rank, disk_request const& r);
  /// Throws skel::error if the rank is lost before it answers.
  [[nodiscard]] disk_answer wait(ticket t);
  /// Performs a request on this rank's own disk, without files that stay open.
  [[nodiscard]] disk_answer perform(disk_request const& r) const {
    return disk_host(rank_, host_).perform(rank_, r);
  }
  /// Discards the answer.
  void forget(ticket t);
  /// Sends a request without waiting for its outcome.
  void tell(int rank, disk_request const& r);
  [[nodiscard]] bool lost(int rank) const;
  /// The next file number of the requesting side.
  [[nodiscard]] std::uint64_t next_file() { return ++files_; }
  /// Announces that this rank uses a store on all ranks' disks. They stay attentive until the use
  /// ends.
  void begin_use() { tell_all(true); }
  void end_use() { tell_all(false); }
  /// Whether messages are waiting, or may be at any moment.
  [[nodiscard]] bool busy() const { return has_outgoing_ || unfinished_ > 0 || users_ > 0; }
  /// Whether another rank uses a store on this rank.
  [[nodiscard]] bool used() const { return users_ > 0; }

  // --- the engine, with its lock ---
  void on_message(int from, std::span<std::byte const> body);
  struct outgoing {
    int to = 0;
    transport::packet what;
  };
  [[nodiscard]] std::vector<outgoing> take_outgoing();
  void set_lost(int rank, bool lost);
  /// The job is ending: ranks may leave before they answer.
  void set_failed();

 private:
  using clock = std::chrono::steady_clock;
  struct request {
    int from = 0;
    std::vector<std::byte> message;
  };
  void post(int rank, transport::packet what);
  void tell_all(bool begins);
  void use(int from, int stores);
  void take(int from, std::span<std::byte const> body);
  void serve();
  [[nodiscard]] bool hopeless(int rank) const;

  int rank_;
  host_info host_;
  bool reachable_;
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<outgoing> outgoing_;
  std::atomic<bool> has_outgoing_{false};  // progress() reads it on every call
  std::map<ticket, int> asked_;            // the rank that each request was sent to
  std::map<ticket, disk_answer> answers_;
  ticket tickets_ = 0;
  std::atomic<std::uint64_t> files_{0};
  std::vector<bool> lost_;
  std::map<int, int> stores_of_;  // number of stores that each other rank uses here
  std::atomic<int> users_{0};     // their sum
  std::optional<clock::time_point> failed_since_;
  std::atomic<int> unfinished_{0};  // requests sent and received that are not answered

  disk_host disk_;  // used by the thread only
  std::deque<request> requests_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace skel::detail
