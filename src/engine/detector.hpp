// Detects ranks that are silent for too long: heartbeats and time-outs.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace skel::detail {

/// Failure detector of one rank [Lee97, §3]. Pure: it receives what was heard and sent, and returns
/// the ranks to greet and the ranks to declare dead. The root watches all ranks; the others watch
/// the root, which notifies them of its findings. This takes 2 N heartbeats per interval instead of
/// N squared.
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
    return now - last_heard_[static_cast<std::size_t>(rank)];
  }
  /// Time of the next call to beat(); infinity if never.
  [[nodiscard]] double next_beat() const {
    return enabled() ? last_beat_ + interval_ : std::numeric_limits<double>::infinity();
  }
  [[nodiscard]] bool due(double now) const { return enabled() && now - last_beat_ >= interval_; }

  void heard(int rank) { heard_[static_cast<std::size_t>(rank)] = 1; }
  void sent(int rank) { sent_[static_cast<std::size_t>(rank)] = 1; }
  /// A run begins or ends. Without `always`, no rank is watched until it is heard from again.
  void reset(double now);

  struct verdict {
    std::vector<int> greet;   ///< ranks without a recent message from this rank
    std::vector<int> silent;  ///< ranks to declare dead
  };
  /// Called once per interval. `lost`: the ranks already lost.
  [[nodiscard]] verdict beat(double now, std::vector<bool> const& lost);

 private:
  [[nodiscard]] bool my_concern(int rank) const { return rank != self_ && (self_ == 0 || rank == 0); }

  int self_ = 0;
  double suspect_after_ = 0;
  double interval_ = 0;
  bool always_ = true;
  double last_beat_ = 0;
  std::vector<double> last_heard_;
  std::vector<bool> watched_;
  std::vector<std::uint8_t> heard_, sent_;  // since the last beat
};

}  // namespace skel::detail
