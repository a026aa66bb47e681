// Carries requests and answers between the ranks' disks and the engine.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "disk_host.hpp"
#include "disk_outbox.hpp"
#include "disk_server.hpp"
#include "kept_disks.hpp"

namespace skel::detail {

/// One per engine. wait() blocks until the answer arrives or the rank is lost, so the caller must not hold
/// the engine's lock.
class disk_service {
 public:
  /// `ranks`: the number of each rank in the job, which has `ranks_of_job`; empty: all are left, in their
  /// order. `reachable`: whether ranks can send requests to each other at any time. `wake` asks the engine
  /// to send messages.
  disk_service(int rank, std::vector<int> ranks, int ranks_of_job, host_info host,
               std::shared_ptr<kept_disks> kept, bool reachable, std::function<void()> wake);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return static_cast<int>(lost_.size()); }
  [[nodiscard]] int ranks_of_job() const { return ranks_of_job_; }
  [[nodiscard]] int in_job(int rank) const {
    return ranks_.empty() ? rank : ranks_[static_cast<std::size_t>(rank)];
  }
  /// The rank with this number in the job; empty: it was lost in an earlier attempt.
  [[nodiscard]] std::optional<int> rank_of(int in_job) const;
  [[nodiscard]] host_info const& own() const { return host_; }
  [[nodiscard]] std::string const& host() const { return host_.name; }
  [[nodiscard]] bool reachable() const { return reachable_; }

  // --- from any thread, without the engine's lock ---
  using ticket = std::uint64_t;
  [[nodiscard]] ticket ask(int rank, disk_request const& r);
  /// Throws skel::error if the rank is lost before it answers.
  [[nodiscard]] disk_answer wait(ticket t);
  /// Performs a request on this rank's own disk, without files that stay open.
  [[nodiscard]] disk_answer perform(disk_request const& r) const {
    return disk_host(host_).perform(rank_, r);
  }
  /// Discards the answer.
  void forget(ticket t);
  /// Sends a request without waiting for its outcome.
  void tell(int rank, disk_request const& r);
  [[nodiscard]] bool lost(int rank) const;
  /// How often a rank was lost, if only for a while.
  [[nodiscard]] std::uint64_t losses() const { return losses_; }
  /// Whether the root is lost, so that nothing more can be saved in this attempt.
  [[nodiscard]] bool isolated() const;
  /// The next file number of the requesting side.
  [[nodiscard]] std::uint64_t next_file() { return ++files_; }
  /// Announces that this rank uses a store on all ranks' disks. They stay attentive until the use
  /// ends.
  void begin_use() { tell_all(true); }
  void end_use() { tell_all(false); }
  /// By roots of this attempt and of those before.
  [[nodiscard]] opened_stores& opened() { return kept_->opened; }
  /// This process is about to end without destructors: ends its claims to directories.
  static void release_claims();
  /// Whether messages are waiting, or may be at any moment.
  [[nodiscard]] bool busy() const {
    return !outbox_.empty() || unanswered_ > 0 || server_.busy() || users_ > 0;
  }
  /// Whether another rank uses a store on this rank.
  [[nodiscard]] bool used() const { return users_ > 0; }

  // --- the engine, with its lock ---
  void on_message(int from, transport::packet message);
  /// Returns what to answer.
  [[nodiscard]] std::vector<transport::packet> on_note(int from, std::span<std::byte const> body);
  /// Whether it has said which stores it knows to be opened.
  [[nodiscard]] bool has_answered(int rank) const { return answered_.contains(rank); }
  [[nodiscard]] std::vector<disk_outbox::message> take_outgoing() { return outbox_.take(); }
  void set_lost(int rank, bool lost);
  /// The job is ending: ranks may leave before they answer.
  void set_failed();

 private:
  using clock = std::chrono::steady_clock;
  struct question {
    int to = 0;
    std::optional<disk_answer> answer{};
    bool given_up = false;  // its rank was lost, if only for a while: it may not have been sent
  };
  void send(int rank, std::uint64_t number, disk_request const& r);
  void tell_all(bool begins);
  void use(int from, int stores);
  [[nodiscard]] bool hopeless(int rank) const;

  int rank_, ranks_of_job_;
  std::vector<int> ranks_;
  std::shared_ptr<kept_disks> kept_;
  host_info host_;
  bool reachable_;
  disk_outbox outbox_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<ticket, question> asked_;
  ticket tickets_ = 0;
  std::atomic<std::uint64_t> files_{0}, losses_{0};
  std::vector<bool> lost_;
  std::set<int> answered_;        // ranks
  std::map<int, int> stores_of_;  // number of stores that each other rank uses here
  std::atomic<int> users_{0};     // their sum
  std::optional<clock::time_point> failed_since_;
  std::atomic<int> unanswered_{0};  // questions
  disk_server server_;              // its thread posts to the outbox, so it ends first
};

}  // namespace skel::detail
