// The phases of a divide_and_conquer call: how long each took on each level, for the report and the cost
// model.
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

/// The maximum over what one rank did on a level, then over the ranks ("hypercube divide and conquer",
/// section 5). An exchange is measured as packing and unpacking, the maximum over the ranks, and the time
/// from a rank's own message to its partner's, the minimum: whoever is later waits for the network only.
class phase_clock {
 public:
  enum class phase : std::uint8_t { divide, sequential, exchange, combine };

  void add(phase what, int level, double seconds, std::uint64_t bytes = 0, problem_sizes sizes = {});
  /// Packing and unpacking of the level's exchange, on this rank: added up.
  void exchange(int level, double seconds, std::uint64_t bytes);
  /// This rank's message of the level's exchange has left; its partner's has come.
  void sent(int level, double now);
  void received(int level, double now);

  void pack(std::vector<std::byte>& out) const;
  /// Adds what another rank has packed. Throws protocol_error.
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
  std::map<int, double> other_waits_;  // the shortest of the other ranks, per level
};

}  // namespace skel::detail
