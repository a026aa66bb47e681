// Carries requests and answers between the ranks' disks and the engine.
#pragma once

#include <algorithm>
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
#include <utility>
#include <vector>

#include "disk_host.hpp"
#include "disk_outbox.hpp"
#include "disk_server.hpp"
#include "kept_disks.hpp"

namespace skel::detail {

/// The ranks that are left of a job, and their numbers in it.
class job_ranks {
 public:
  /// `numbers`: of each rank that is left; empty: all are, in their order.
  job_ranks(std::vector<int> numbers, int all) : numbers_(std::move(numbers)), all_(all) {}
  [[nodiscard]] int all() const { return all_; }
  [[nodiscard]] int left() const { return numbers_.empty() ? all_ : static_cast<int>(numbers_.size()); }
  [[nodiscard]] int in_job(int rank) const {
    return numbers_.empty() ? rank : numbers_[static_cast<std::size_t>(rank)];
  }
  /// The rank with this number in the job; empty: it was lost in an earlier attempt.
  [[nodiscard]] std::optional<int> rank_of(int in_job) const {
    if (numbers_.empty()) return in_job;
    auto const at = std::ranges::find(numbers_, in_job);
    return at != numbers_.end() ? std::optional(static_cast<int>(at - numbers_.begin())) : std::nullopt;
  }

 private:
  std::vector<int> numbers_;
  int all_;
};

/// The requests of this rank that wait for an answer. Requires the service's lock, except for any().
class disk_questions {
 public:
  using ticket = std::uint64_t;
  struct question {
    int to = 0;
    std::optional<disk_answer> answer{};
    bool given_up = false;  // its rank was lost, if only for a while: it may not have been sent
  };
  [[nodiscard]] ticket ask(int to, bool given_up) {
    ++waiting_;
    asked_[++tickets_] = {to, {}, given_up};
    return tickets_;
  }
  [[nodiscard]] question const& of(ticket t) const { return asked_.at(t); }
  void answered(ticket t, disk_answer a) {
    if (auto const at = asked_.find(t); at != asked_.end()) at->second.answer = std::move(a);
  }
  template <class Hopeless>
  void give_up(Hopeless const& hopeless) {
    for (auto& [t, asked] : asked_) asked.given_up = asked.given_up || hopeless(asked.to);
  }
  std::optional<question> take(ticket t) {
    auto const at = asked_.extract(t);
    if (!at) return std::nullopt;
    --waiting_;
    return std::move(at.mapped());
  }
  [[nodiscard]] bool any() const { return waiting_ > 0; }

 private:
  std::map<ticket, question> asked_;
  ticket tickets_ = 0;
  std::atomic<int> waiting_{0};
};

/// The other ranks that use stores here. Requires the service's lock, except for any().
class store_users {
 public:
  /// A rank that was declared dead and returned has already ended all of its uses.
  void use(int from, int stores) {
    auto& n = stores_of_[from];
    stores = std::max(stores, -n);
    n += stores;
    all_ += stores;
  }
  /// Ends the uses of ranks for which this is true.
  template <class Hopeless>
  void end(Hopeless const& hopeless) {
    for (auto const& [rank, stores] : stores_of_)
      if (hopeless(rank)) use(rank, -stores);
  }
  [[nodiscard]] bool any() const { return all_ > 0; }

 private:
  std::map<int, int> stores_of_;  // number of stores of each rank
  std::atomic<int> all_{0};
};

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
  [[nodiscard]] job_ranks const& ranks() const { return ranks_; }
  [[nodiscard]] host_info const& own() const { return host_; }
  [[nodiscard]] bool reachable() const { return reachable_; }

  // --- from any thread, without the engine's lock ---
  using ticket = disk_questions::ticket;
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
    return !outbox_.empty() || asked_.any() || server_.busy() || users_.any();
  }
  /// Whether another rank uses a store on this rank.
  [[nodiscard]] bool used() const { return users_.any(); }

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
  void send(int rank, std::uint64_t number, disk_request const& r);
  void tell_all(bool begins);
  [[nodiscard]] bool hopeless(int rank) const;

  int rank_;
  job_ranks ranks_;
  std::shared_ptr<kept_disks> kept_;
  host_info host_;
  bool reachable_;
  disk_outbox outbox_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  disk_questions asked_;
  std::atomic<std::uint64_t> files_{0}, losses_{0};
  std::vector<bool> lost_;
  std::set<int> answered_;  // ranks
  store_users users_;
  std::optional<clock::time_point> failed_since_;
  disk_server server_;  // its thread posts to the outbox, so it ends first
};

}  // namespace skel::detail
