#include "statement.hpp"

#include "skel/bytes.hpp"

namespace skel::detail {

void encode(steal_statement const& s, std::vector<std::byte>& out) {
  bytes::put_varint(out, s.tasks);
  bytes::put_block(out, s.sum);
  bytes::put_varint(out, s.bags);
  bytes::put_block(out, s.waiting);
}

steal_statement decode_statement(std::span<std::byte const>& in) {
  steal_statement s;
  s.tasks = bytes::get_varint(in);
  s.sum = bytes::get_block(in);
  s.bags = bytes::get_varint(in);
  s.waiting = bytes::get_block(in);
  return s;
}

}  // namespace skel::detail
