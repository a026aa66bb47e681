#include "clock.hpp"

#include "skel/bytes.hpp"

namespace skel::detail {

void group_clock::add(group_clock const& other) {
  taken_back += other.taken_back;
  units_read += other.units_read;
  read_seconds += other.read_seconds;
  pieces += other.pieces;
  compute_seconds += other.compute_seconds;
  pieces_sent += other.pieces_sent;
  send_seconds += other.send_seconds;
}

void group_clock::pack(std::vector<std::byte>& out) const {
  for (auto const n : {taken_back, units_read, pieces, pieces_sent}) bytes::put_varint(out, n);
  for (auto const s : {read_seconds, compute_seconds, send_seconds}) bytes::put_raw(out, s);
}

group_clock group_clock::unpack(std::span<std::byte const>& in) {
  group_clock c;
  for (auto* const n : {&c.taken_back, &c.units_read, &c.pieces, &c.pieces_sent}) *n = bytes::get_varint(in);
  for (auto* const s : {&c.read_seconds, &c.compute_seconds, &c.send_seconds})
    *s = bytes::get_raw<double>(in);
  return c;
}

}  // namespace skel::detail
