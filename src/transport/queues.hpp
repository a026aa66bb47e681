// Ranks as threads of one process: a transport over queues in memory.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "transport/transport.hpp"

namespace skel::transport {

/// The queues of arrived packets of all ranks. Thread-safe.
class queues {
 public:
  explicit queues(int ranks) : inbox_(static_cast<std::size_t>(ranks)) {}
  [[nodiscard]] int size() const { return static_cast<int>(inbox_.size()); }
  void put(int to, transport::arrival a);
  [[nodiscard]] std::optional<transport::arrival> take(int rank);
  /// Waits until a packet for this rank has arrived, at most `seconds`.
  void wait(int rank, double seconds);

 private:
  struct inbox {
    std::mutex mutex;
    std::condition_variable filled;
    std::deque<transport::arrival> packets;
  };
  std::vector<inbox> inbox_;
};

/// One rank of them.
class queue_transport final : public transport {
 public:
  queue_transport(std::shared_ptr<queues> all, int rank) : all_(std::move(all)), rank_(rank) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return all_->size(); }
  void send(int to, packet what) override;
  [[nodiscard]] std::optional<arrival> receive() override { return all_->take(rank_); }
  [[nodiscard]] std::size_t unsent(int /*to*/) const override { return 0; }
  void wait(double seconds) override;

 private:
  std::shared_ptr<queues> all_;
  int rank_;
};

}  // namespace skel::transport
