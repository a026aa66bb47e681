// Detects ranks that are silent for too long: heartbeats and time-outs.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <vector>

namespace skel::detail {

/// The ranks that watch each other. The root decides which ranks are lost. With few ranks, it watches all of
/// them and they watch it: 2 N heartbeats per interval instead of N squared. With many, ranks form blocks of
/// about sqrt(N). The first rank of a block, its leader, watches the others of the block and reports to the
/// root, which watches only the leaders and its own block. In this tree of two levels, no rank sends more
/// than 2 sqrt(N) heartbeats per interval. (In the ring of [Bosilca16], the time to find several losses
/// grows with their number.)
class watch_tree {
 public:
  watch_tree() = default;
  explicit watch_tree(int size);
  /// The rank that watches `rank`, and that it watches: its leader, or the root.
  [[nodiscard]] int leader_of(int rank) const { return block_of(rank) * block_; }
  [[nodiscard]] int block_of(int rank) const { return rank / block_; }
  [[nodiscard]] bool is_leader(int rank) const { return leader_of(rank) == rank; }
  /// The end of the block that begins with this leader.
  [[nodiscard]] int block_end(int leader) const;

 private:
  int size_ = 1;
  int block_ = 1;
};

/// Failure detector of one rank [Lee97, §3]. Pure: it receives what was heard and sent, and returns
/// the ranks to greet, and the silent ones. Heartbeats are spread over the interval: the ranks begin at
/// different times, and a rank that watches many greets some of them at each beat.
///
/// If a leader is lost, or silent for its block, the ranks of its block and the root watch each other. So a
/// loss is noticed after `suspect_after`, or twice that time if the leader was lost with it.
class detector {
 public:
  detector() = default;
  /// `suspect_after`: seconds of silence; 0: never. Without `always`, a rank is watched only from
  /// its first message after begin() until end(), because it may be unable to send outside a run.
  detector(int self, int size, double suspect_after, bool always, double now);

  [[nodiscard]] bool enabled() const { return suspect_after_ > 0; }
  [[nodiscard]] double interval() const { return interval_; }
  [[nodiscard]] double patience() const { return suspect_after_; }
  [[nodiscard]] watch_tree const& tree() const { return tree_; }
  /// Seconds since the last sign of life, as of the last beat.
  [[nodiscard]] double silence(int rank, double now) const {
    return now - stopped_ - peers_[place(rank)].last_heard;
  }
  /// The same if this rank watches the other one.
  [[nodiscard]] std::optional<double> silence_if_watched(int rank, double now) const {
    if (!enabled() || !known(rank)) return std::nullopt;
    auto const& p = peers_[place(rank)];
    return p.mine && p.watched ? std::optional(silence(rank, now)) : std::nullopt;
  }
  /// Time of the next call to beat(); infinity if never.
  [[nodiscard]] double next_beat() const {
    return enabled() ? last_beat_ + step() : std::numeric_limits<double>::infinity();
  }
  [[nodiscard]] bool due(double now) const { return enabled() && now - last_beat_ >= step(); }

  /// Whether this process was stopped long enough for the others to think that it is lost.
  [[nodiscard]] bool was_absent(double now) const {
    return enabled() && now - last_beat_ > suspect_after_ - interval_;
  }

  void heard(int rank) {
    if (known(rank)) peers_[place(rank)].heard = true;
  }
  void sent(int rank) {
    if (known(rank)) peers_[place(rank)].sent = true;
  }
  /// This rank's leader cannot hear the root any more, so this rank listens for itself.
  void doubt_root() { doubts_root_ = true; }
  /// On the root: a rank doubts its leader, so the root watches and greets it too; or no longer.
  void adopt(int rank, bool doubts) { peers_[place(rank)].adopted = doubts; }
  /// On the root: whether it watches a rank in place of its leader, whose reports then do not count.
  [[nodiscard]] bool has_adopted(int rank) const { return peers_[place(rank)].adopted; }
  /// A run begins or ends. Without `always`, no rank is watched until it is heard from again.
  void reset(double now);

  struct verdict {
    std::vector<int> greet;   ///< ranks without a recent message from this rank
    std::vector<int> silent;  ///< for too long: dead, if the root says so; if it is the root, dead
    /// What the root must hear: whether this rank doubts its leader.
    std::optional<bool> doubt{};
  };
  /// Called when due. `lost`: the ranks already lost.
  [[nodiscard]] verdict beat(double now, std::set<int> const& lost);

 private:
  struct peer {
    double last_heard = 0;  // without the time for which this process was stopped
    bool mine = false;      // this rank has watched it at the last beat
    bool watched = false;
    bool adopted = false;
    bool heard = false, sent = false;  // since the last beat
  };

  // Ranks that this one may ever have to watch; peers_ has a place for each.
  [[nodiscard]] bool known(int rank) const {
    if (rank == self_) return false;
    if (self_ == 0 || rank == 0) return true;
    return tree_.leader_of(self_) == tree_.leader_of(rank) &&
           (tree_.is_leader(self_) || tree_.is_leader(rank));
  }
  // The root has one for each rank; a leader one for the root and each rank of its block; the others one for
  // the root and one for their leader.
  [[nodiscard]] std::size_t place(int rank) const {
    return static_cast<std::size_t>(self_ == 0 || rank == 0 ? rank : rank - tree_.leader_of(rank) + 1);
  }
  [[nodiscard]] int rank_at(std::size_t place) const {
    auto const at = static_cast<int>(place);
    return self_ == 0 || at == 0 ? at : tree_.leader_of(self_) + at - 1;
  }
  // The root usually watches the leader of each block only: ranks of one block have different turns.
  [[nodiscard]] std::size_t turn_of(int rank) const {
    return static_cast<std::size_t>(rank + tree_.block_of(rank)) % turns_;
  }
  // Whether this rank watches it now.
  [[nodiscard]] bool watches(int rank, std::set<int> const& lost) const;

  static constexpr std::size_t most_at_once = 64;
  [[nodiscard]] double step() const { return interval_ / static_cast<double>(turns_); }
  void look_at(int rank, double now, std::set<int> const& lost, verdict& v);

  int self_ = 0;
  watch_tree tree_;
  double suspect_after_ = 0;
  double interval_ = 0;
  bool always_ = true;
  double last_beat_ = 0;
  double stopped_ = 0;          // seconds for which this process was stopped
  std::size_t turns_ = 1;       // number of beats in which each rank has its turn
  std::size_t turn_ = 0;        // of the next beat
  bool doubts_leader_ = false;  // it is silent
  bool said_doubt_ = false;
  bool doubts_root_ = false;
  std::vector<peer> peers_;
};

}  // namespace skel::detail
