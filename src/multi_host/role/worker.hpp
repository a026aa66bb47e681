// The worker of a multi_host call, on every rank: processes pieces for the host that the arbiter names.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "multi_host/role/action.hpp"
#include "role/attendance.hpp"

namespace skel::role {

struct group_worker_config {
  rank_id self = 0;
  rank_id root = 0;
  std::uint64_t call_hash = 0;
  unsigned threads = 1;
  double power = 0;  ///< told when it says hello; 0: not
  /// A request leaves when this number of pieces waits for a thread, or as many as threads take at a time,
  /// where pieces are small. Empty: when no piece waits or runs any more.
  std::optional<std::uint64_t> threshold = 1;
  std::uint64_t results_level = 0;  ///< bytes of results that are kept before they leave together
  friend bool operator==(group_worker_config const&, group_worker_config const&) = default;
};

/// Requests packets from its host and processes their pieces. Results leave when they "accumulate to a
/// certain level" [Bajaj93, §5.1], or when nothing more of their unit is here. When the arbiter sends the
/// worker elsewhere, it finishes what it holds and returns the results to where the pieces came from.
///
/// A regular value; events append their actions to `out`. It relies on the wire contract.
class group_worker {
 public:
  group_worker() = default;
  explicit group_worker(group_worker_config config)
      : config_(config), attendance_(config.self, config.root) {}

  void begin(group_actions& out);
  /// This number of pieces makes a packet of the right length, as far as this rank knows; 0: any number.
  void pace(std::uint64_t pieces) { pace_ = pieces; }
  /// A compute thread is free and would take at most `limit` pieces. `quiet`: no thread of this rank is
  /// inside the user's functions.
  void idle(std::uint64_t limit, bool quiet, group_actions& out);
  /// These pieces of packet `id` are done, their results of `bytes` bytes are kept by the engine.
  void finished(packet_id id, piece_run pieces, std::uint64_t bytes, group_actions& out);
  /// A function of the user's threw, for this unit.
  void failed(std::uint64_t unit, std::string text, group_actions& out);
  void please_stop(group_actions& out) { attendance_.please_stop(out); }
  /// After drain: no thread is inside the user's functions any more.
  void quiet(group_actions& out) { attendance_.quiet(out); }
  void on(rank_id from, call_message const& m, group_actions& out);
  void on(rank_id from, group_msg::serve const& m, group_actions& out);
  void on(rank_id from, group_msg::packet const& m, group_actions& out);
  void lost(rank_id rank, group_actions& out);
  void tick(group_actions& out);

  [[nodiscard]] bool has_work() const { return !queue_.empty() || !suspects_.empty(); }
  /// Nothing else must begin on this rank: a suspect runs, or is next.
  [[nodiscard]] bool runs_alone() const { return suspect_runs() || (queue_.empty() && !suspects_.empty()); }
  [[nodiscard]] std::uint64_t queued() const;
  [[nodiscard]] std::size_t running() const { return running_.size(); }
  [[nodiscard]] std::size_t unsent() const { return done_.size(); }
  [[nodiscard]] std::optional<rank_id> host() const { return host_; }
  [[nodiscard]] bool waiting() const { return asked_; }
  [[nodiscard]] std::uint64_t call_hash() const { return config_.call_hash; }
  friend bool operator==(group_worker const&, group_worker const&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  struct part {
    packet_id id = 0;
    rank_id host = 0;
    term_id term = 0;
    piece_run pieces;
    bool suspect = false;
    friend bool operator==(part const&, part const&) = default;
  };

  [[nodiscard]] bool suspect_runs() const { return running_.size() == 1 && running_.front().suspect; }
  [[nodiscard]] bool may_ask() const;
  void maybe_ask(group_actions& out);
  void ask(group_actions& out);
  void start(std::deque<part>& from, std::uint64_t limit, group_actions& out);
  void maybe_flush(group_actions& out);
  void flush(rank_id host, term_id term, group_actions& out);
  void drop_if_draining();

  group_worker_config config_;
  attendance attendance_;
  std::optional<rank_id> host_;
  term_id term_ = 0;
  bool asked_ = false;
  packet_id next_id_ = 1;
  std::deque<part> queue_;
  std::deque<part> suspects_;  // wait until nothing else is here
  std::vector<part> running_;
  std::vector<part> done_;  // results not sent yet
  std::uint64_t done_bytes_ = 0;
  std::uint64_t pace_ = 0;
  std::uint64_t reach_ = 0;  // pieces that threads take at a time, where it is more than one each
  unsigned ticks_ = 0;       // since the last request or packet
};

}  // namespace skel::role
