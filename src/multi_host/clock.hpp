// Measures the time that a multi_host call spends on reading, processing and sending.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skel/bytes.hpp"

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

  void add(group_clock const& other) {
    taken_back += other.taken_back;
    units_read += other.units_read;
    read_seconds += other.read_seconds;
    pieces += other.pieces;
    compute_seconds += other.compute_seconds;
    pieces_sent += other.pieces_sent;
    send_seconds += other.send_seconds;
  }
  void pack(std::vector<std::byte>& out) const {
    for (auto const n : {taken_back, units_read, pieces, pieces_sent}) bytes::put_varint(out, n);
    for (auto const s : {read_seconds, compute_seconds, send_seconds}) bytes::put_raw(out, s);
  }
  [[nodiscard]] static group_clock unpack(std::span<std::byte const>& in) {
    group_clock c;
    for (auto* const n : {&c.taken_back, &c.units_read, &c.pieces, &c.pieces_sent})
      *n = bytes::get_varint(in);
    for (auto* const s : {&c.read_seconds, &c.compute_seconds, &c.send_seconds})
      *s = bytes::get_raw<double>(in);
    return c;
  }
};

}  // namespace skel::detail
