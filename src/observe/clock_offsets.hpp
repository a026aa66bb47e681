// How the clock of a rank differs from the root's.
#pragma once

#include <vector>

namespace skel::observe {

/// One measurement of the root's clock by a rank: it asks for the root's time and takes the answer as
/// the middle of the round trip [Cristian89]. It is wrong by at most half of that.
struct clock_sample {
  double at = 0;          ///< the rank's clock, in seconds
  double offset = 0;      ///< to be added to it, in seconds
  double round_trip = 0;  ///< in seconds
};

/// The samples of one rank, in the order of their time.
class clock_offsets {
 public:
  /// Keeps only the one with the shorter round trip of two samples less than a second apart: their
  /// errors would look like drift.
  void add(clock_sample const& sample);
  [[nodiscard]] bool empty() const { return samples_.empty(); }
  /// The root's time when the rank's clock shows `t`. The offset is interpolated between samples and
  /// constant before the first and after the last. Without a sample the clocks are the same.
  [[nodiscard]] double to_root(double t) const;

 private:
  std::vector<clock_sample> samples_;
};

}  // namespace skel::observe
