// Whether threads that store in one array are faster than one of them.
#pragma once

#include <algorithm>
#include <limits>

namespace components {

/// Compares pieces of equal work. Where cores share no cache, each store takes a line away from another core:
/// two threads of two such cores took 30 ms to link what one links in 12. That shows when both have been to
/// most lines, after a tenth of the work.
class pace {
 public:
  /// Together a piece may take `tolerated` times as long as one thread would need for a piece of each.
  pace(unsigned threads, double tolerated) : most_(tolerated * threads) {}

  /// One thread took so long for a piece, while no other worked. The fastest counts: whoever is interrupted
  /// needs longer for other reasons.
  void alone(double seconds) { alone_ = std::min(alone_, seconds); }
  /// It took so long while all worked. True if by now they would better leave it alone.
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
