// What the blocks of user code in a simulated divide-and-conquer cost: measured as they run, or from a trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace skel::simulate {

/// Which block: the how manieth call, on which rank, of which function, the how manieth there.
struct block_key {
  int call = 0;
  int rank = 0;
  std::string phase;
  int number = 0;
  auto operator<=>(block_key const&) const = default;
};

/// Seconds of blocks at power 1. A trace is a CSV file: the line `call,rank,phase,number,seconds`, then one
/// per block.
class block_costs {
 public:
  struct settings {
    std::string replay;    ///< a trace; empty: blocks cost what they are measured to take
    int measurements = 1;  ///< of each block, which has to be run so often; the median counts
    double scale = 1;      ///< all costs are multiplied by it: the power of the real machine
    double noise = 0;      ///< relative standard deviation of a normal factor, cut off at three
    std::uint64_t seed = 1;
  };

  /// Throws usage_error, with file and line, for a trace that is none.
  explicit block_costs(settings const& s);

  /// How often a block has to be run to know its cost.
  [[nodiscard]] int measurements() const { return settings_.replay.empty() ? settings_.measurements : 1; }
  /// The cost of the next block of this call, rank and phase, that took these seconds on the real machine.
  /// Throws usage_error for a block that the trace does not have.
  double next(int call, int rank, std::string const& phase, std::vector<double> measured);

  [[nodiscard]] double total() const { return total_; }
  /// Writes the unscaled costs without noise: what a later run replays.
  void save(std::string const& path) const;

 private:
  settings settings_;
  std::map<block_key, double> trace_, used_;
  std::map<std::tuple<int, int, std::string>, int> numbers_;
  double total_ = 0;
};

/// CPU seconds that this thread has used.
[[nodiscard]] double thread_seconds();

}  // namespace skel::simulate
