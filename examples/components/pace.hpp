// Decides whether several threads that write to one array are faster than one.
#pragma once

#include <algorithm>
#include <limits>

namespace components {

/// Compares pieces of equal work. If cores share no cache, each store takes a line away from
/// another core: two threads on two such cores took 30 ms to link what one links in 12. The threads
/// that did not begin notice it first, since all lines are in the cache of the one that did; it
/// notices once they have taken most lines, after a tenth of the work. Each thread therefore has its
/// own copy of what one thread needs alone.
class pace {
 public:
  /// `tolerated`: the permitted ratio of the time of a piece with all threads to the time of one
  /// thread for as many pieces.
  pace(unsigned threads, double tolerated) : most_(tolerated * threads) {}

  /// Records the seconds of a piece while no other thread worked. The fastest piece counts, because
  /// interruptions only slow a thread down.
  void alone(double seconds) { alone_ = std::min(alone_, seconds); }
  /// Records the seconds of a piece of this thread while all worked. Returns true if one thread should go
  /// on alone.
  bool together(double seconds) {
    slow_ = seconds > most_ * alone_ ? slow_ + 1 : 0;
    return slow_ >= enough;
  }

 private:
  static constexpr int enough = 4;  // in a row
  double alone_ = std::numeric_limits<double>::infinity();
  double most_;
  int slow_ = 0;
};

}  // namespace components
