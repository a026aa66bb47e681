// Measures the phases of a divide_and_conquer call: the duration of each phase on each level, for
// the report and the cost model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "skel/detail/divide_work.hpp"
#include "skel/report.hpp"

namespace skel::detail {

/// A phase counts as the maximum over one rank's work on a level, then over the ranks [Hyper, §5]. An
/// exchange has two parts. Packing and unpacking count as the maximum over the ranks. The time from a rank's
/// own message to its partner's counts as the minimum, because the later partner waits for the network only.
class phase_clock {
 public:
  enum class phase : std::uint8_t { divide, sequential, exchange, combine };

  void add(phase what, int level, double seconds, std::uint64_t bytes = 0, problem_sizes sizes = {});
  /// Adds the time of packing and unpacking in the level's exchange, on this rank.
  void exchange(int level, double seconds, std::uint64_t bytes);
  /// Records when this rank's message of the level's exchange was sent; received() records its partner's.
  void sent(int level, double now);
  void received(int level, double now);

  void pack(std::vector<std::byte>& out) const;
  /// Merges the packed times of another rank. Throws protocol_error.
  void merge(std::span<std::byte const>& in);
  [[nodiscard]] std::vector<phase_report> phases() const;

 private:
  struct entry {
    double seconds = 0;
    std::uint64_t bytes = 0;
    problem_sizes sizes{};
  };
  struct times {
    double sent = -1;
    double received = -1;
    double busy = 0;
    std::uint64_t bytes = 0;
  };
  void add(std::pair<phase, int> where, entry e);
  [[nodiscard]] std::map<int, double> waits() const;
  [[nodiscard]] phase_clock with_own_exchanges() const;

  std::map<std::pair<phase, int>, entry> entries_;
  std::map<int, times> exchanges_;     // of this rank
  std::map<int, double> other_waits_;  // the shortest wait of the other ranks, per level
};

}  // namespace skel::detail
