// Measures the time that a multi_host call spends on reading, processing and sending.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace skel::detail {

/// Measures one rank; on the root, in the end, all ranks.
struct group_clock {
  std::uint64_t taken_back = 0;  ///< pieces, from lost ranks
  std::uint64_t units_read = 0;  ///< history included
  double read_seconds = 0;
  std::uint64_t pieces = 0;  ///< processed
  double compute_seconds = 0;
  std::uint64_t pieces_sent = 0;
  double send_seconds = 0;
  double started_at = -1;  ///< on the root: when every host had read its first units; stays on this rank

  void add(group_clock const& other);
  void pack(std::vector<std::byte>& out) const;
  [[nodiscard]] static group_clock unpack(std::span<std::byte const>& in);
};

}  // namespace skel::detail
