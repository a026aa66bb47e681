// The member of a multi_host call, on every rank: processes pieces for the host that the root names.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "multi_host/role/message.hpp"
#include "protocol/attendance.hpp"
#include "protocol/leave_request.hpp"

namespace skel::role {

/// A member sends its results above this number of bytes.
inline constexpr std::uint64_t default_results_level = 64 * 1024;

struct group_member_config {
  rank_id self = 0;
  rank_id root = 0;
  std::uint64_t call_hash = 0;
  unsigned threads = 1;
  double power = 0;                                     ///< sent with its hello; 0: not measured
  std::uint64_t results_level = default_results_level;  ///< bytes of results to collect before returning them
};

/// Requests packets from its host and processes their pieces; the paper calls it a slave. Requests the next
/// one when one piece waits for a thread or, if pieces are small, as many as the threads take at a time.
/// Returns results when they "accumulate to a certain level" [Bajaj93, §5.1], or when it holds no further
/// piece of their unit. When the root moves the member to another host, it finishes the pieces that it
/// holds and returns their results to the host they came from.
///
/// Events append their actions to `out`. Relies on the wire contract.
class group_member {
 public:
  group_member() = default;
  explicit group_member(group_member_config config)
      : config_(config), attendance_(config.self, config.root) {}

  void begin(group_actions& out);
  /// Sets the largest packet to request, in pieces; 0: no limit.
  void pace(std::uint64_t pieces) { pace_ = pieces; }
  /// A compute thread is idle and takes at most `limit` pieces. `quiet`: no thread of this rank is inside the
  /// user's functions.
  void idle(std::uint64_t limit, bool quiet, group_actions& out);
  /// These pieces of packet `id` are done; the engine keeps their results of `bytes` bytes.
  void finished(packet_id id, piece_run pieces, std::uint64_t bytes, group_actions& out);
  /// A user's function threw an exception while processing this unit.
  void failed(std::uint64_t unit, std::string text, group_actions& out);
  void please_stop(group_actions& out) { attendance_.please_stop(out); }
  /// After drain: no thread is inside the user's functions.
  void quiet(group_actions& out) { attendance_.quiet(out); }
  void on(rank_id from, call_message const& m, group_actions& out);
  void on(rank_id from, group::serve const& m, group_actions& out);
  void on(rank_id from, group::packet const& m, group_actions& out);
  void on(rank_id /*from*/, group::released const& m, group_actions& /*out*/) { leave_.grant(m.number); }
  void lost(rank_id rank, group_actions& out);
  void tick(group_actions& out);
  /// This rank is to leave the job, or not after all.
  void retire(bool does, group_actions& out);
  /// Whether the others need nothing more of it.
  [[nodiscard]] bool vacant() const;

  [[nodiscard]] bool has_work() const { return !queue_.empty() || !suspects_.empty(); }
  /// Whether nothing else may start on this rank: a suspect runs, or is next.
  [[nodiscard]] bool runs_alone() const { return suspect_runs() || (queue_.empty() && !suspects_.empty()); }
  [[nodiscard]] std::uint64_t queued() const;
  [[nodiscard]] std::size_t running() const { return running_.size(); }
  [[nodiscard]] std::size_t unsent() const { return done_.size(); }
  /// The host whose packet this rank awaits.
  [[nodiscard]] std::optional<rank_id> awaits() const { return asked_ ? host_ : std::nullopt; }
  auto fields() const {
    return std::tie(attendance_, host_, term_, asked_, next_id_, queue_, suspects_, running_, done_,
                    done_bytes_, pace_, reach_, ticks_, leave_);
  }

 private:
  struct part {
    packet_id id = 0;
    rank_id host = 0;
    term_id term = 0;
    piece_run pieces;
    bool suspect = false;
  };

  [[nodiscard]] bool suspect_runs() const { return running_.size() == 1 && running_.front().suspect; }
  [[nodiscard]] bool may_ask() const;
  void maybe_ask(group_actions& out);
  void ask(group_actions& out);
  void start(std::deque<part>& from, std::uint64_t limit, group_actions& out);
  void maybe_flush(group_actions& out);
  void flush(rank_id host, term_id term, group_actions& out);
  void drop_if_draining();

  group_member_config config_;
  attendance attendance_;
  std::optional<rank_id> host_;
  term_id term_ = 0;
  bool asked_ = false;
  packet_id next_id_ = 1;
  std::deque<part> queue_;
  std::deque<part> suspects_;  // wait until this rank has nothing else
  std::vector<part> running_;
  std::vector<part> done_;  // their results have not been sent yet
  std::uint64_t done_bytes_ = 0;
  std::uint64_t pace_ = 0;
  std::uint64_t reach_ = 0;  // pieces that the threads take at a time, if more than one each
  unsigned ticks_ = 0;       // since the last request or packet
  leave_request leave_;
};

}  // namespace skel::role
