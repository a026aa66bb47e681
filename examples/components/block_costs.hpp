// The cost of blocks of user code in a simulated divide-and-conquer: measured during the run or
// read from a trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace components {

/// Identifies a block by the index of its call, its rank, its function, and its index within these.
struct block_key {
  int call = 0;
  int rank = 0;
  std::string phase;
  int number = 0;
  auto operator<=>(block_key const&) const = default;
};

/// Provides the seconds of blocks at power 1. A trace is a CSV file: the line
/// `call,rank,phase,number,seconds`, then one line per block.
class block_costs {
 public:
  struct settings {
    std::string replay;    ///< trace to replay; empty: blocks cost their measured time
    int measurements = 1;  ///< runs of each block; the median is used
    double scale = 1;      ///< factor of all costs, the power of the real machine
    double noise = 0;      ///< relative standard deviation of a normal factor, cut off at three deviations
    std::uint64_t seed = 1;
  };

  /// Throws usage_error, with file and line, for an invalid trace.
  explicit block_costs(settings const& s);

  /// The number of times that a block must run to determine its cost.
  [[nodiscard]] int measurements() const { return settings_.replay.empty() ? settings_.measurements : 1; }
  /// Returns the cost of the next block of this call, rank and phase. `measured` holds its seconds
  /// on the real machine. Throws usage_error if the trace lacks the block.
  double next(int call, int rank, std::string const& phase, std::vector<double> measured);

  [[nodiscard]] double total() const { return total_; }
  /// Writes the unscaled costs without noise, for a later replay.
  void save(std::string const& path) const;

 private:
  settings settings_;
  std::map<block_key, double> trace_, used_;
  std::map<std::tuple<int, int, std::string>, int> numbers_;
  double total_ = 0;
};

/// CPU seconds used by this thread.
[[nodiscard]] double thread_seconds();

}  // namespace components
