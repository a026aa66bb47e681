#include "steal_statement.hpp"

#include "skel/protocol/bytes.hpp"

namespace skel::detail {

void encode(steal_statement const& s, std::vector<std::byte>& out) {
  protocol::put_varint(out, s.tasks);
  protocol::put_block(out, s.sum);
  protocol::put_varint(out, s.bags);
  protocol::put_block(out, s.waiting);
}

steal_statement decode_statement(std::span<std::byte const>& in) {
  steal_statement s;
  s.tasks = protocol::get_varint(in);
  s.sum = protocol::get_block(in);
  s.bags = protocol::get_varint(in);
  s.waiting = protocol::get_block(in);
  return s;
}

}  // namespace skel::detail
