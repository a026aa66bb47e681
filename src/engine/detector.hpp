// Detects ranks that are silent for too long: heartbeats and time-outs.
#pragma once

#include <cstddef>
#include <limits>
#include <set>
#include <vector>

namespace skel::detail {

/// Failure detector of one rank [Lee97, §3]. Pure: it receives what was heard and sent, and returns
/// the ranks to greet and the ranks to declare dead. The root watches all ranks; the others watch
/// the root, which notifies them of its findings. This takes 2 N heartbeats per interval instead of
/// N squared. They are spread over the interval: the ranks begin at different times, and the root
/// greets some ranks at each beat.
class detector {
 public:
  detector() = default;
  /// `suspect_after`: seconds of silence; 0: never. Without `always`, a rank is watched only from
  /// its first message after begin() until end(), because it may be unable to send outside a run.
  detector(int self, int size, double suspect_after, bool always, double now);

  [[nodiscard]] bool enabled() const { return suspect_after_ > 0; }
  [[nodiscard]] double interval() const { return interval_; }
  [[nodiscard]] double patience() const { return suspect_after_; }
  /// Seconds since the last sign of life, as of the last beat.
  [[nodiscard]] double silence(int rank, double now) const {
    return now - stopped_ - peers_[place(rank)].last_heard;
  }
  /// Time of the next call to beat(); infinity if never.
  [[nodiscard]] double next_beat() const {
    return enabled() ? last_beat_ + step() : std::numeric_limits<double>::infinity();
  }
  [[nodiscard]] bool due(double now) const { return enabled() && now - last_beat_ >= step(); }

  void heard(int rank) {
    if (my_concern(rank)) peers_[place(rank)].heard = true;
  }
  void sent(int rank) {
    if (my_concern(rank)) peers_[place(rank)].sent = true;
  }
  /// A run begins or ends. Without `always`, no rank is watched until it is heard from again.
  void reset(double now);

  struct verdict {
    std::vector<int> greet;   ///< ranks without a recent message from this rank
    std::vector<int> silent;  ///< ranks to declare dead
    bool round_ends = false;  ///< each rank has had its turn: once per interval
  };
  /// Called when due. `lost`: the ranks already lost.
  [[nodiscard]] verdict beat(double now, std::set<int> const& lost);

 private:
  [[nodiscard]] bool my_concern(int rank) const { return rank != self_ && (self_ == 0 || rank == 0); }

  struct peer {
    double last_heard = 0;  // without the time for which this process was stopped
    bool watched = false;
    bool heard = false, sent = false;  // since the last beat
  };
  // The root has one for each rank, the others have one for the root.
  [[nodiscard]] std::size_t place(int rank) const { return self_ == 0 ? static_cast<std::size_t>(rank) : 0; }

  static constexpr std::size_t most_at_once = 64;
  // Number of beats in which each rank has its turn.
  [[nodiscard]] std::size_t turns() const { return (peers_.size() + most_at_once - 1) / most_at_once; }
  [[nodiscard]] double step() const { return interval_ / static_cast<double>(turns()); }
  void look_at(int rank, double now, std::set<int> const& lost, verdict& v);

  int self_ = 0;
  double suspect_after_ = 0;
  double interval_ = 0;
  bool always_ = true;
  double last_beat_ = 0;
  double stopped_ = 0;    // seconds for which this process was stopped
  std::size_t turn_ = 0;  // of the next beat
  std::vector<peer> peers_;
};

}  // namespace skel::detail
