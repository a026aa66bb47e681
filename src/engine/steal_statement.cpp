#include "steal_statement.hpp"

#include "skel/protocol/bytes.hpp"

namespace skel::detail {

namespace {

void put_sized(std::vector<std::byte> const& bytes, std::vector<std::byte>& out) {
  protocol::put_varint(out, bytes.size());
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::vector<std::byte> get_sized(std::span<std::byte const>& in) {
  auto const bytes = protocol::get_bytes(in, protocol::get_varint(in));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

void encode(steal_statement const& s, std::vector<std::byte>& out) {
  protocol::put_varint(out, s.tasks);
  put_sized(s.sum, out);
  protocol::put_varint(out, s.bags);
  put_sized(s.waiting, out);
}

steal_statement decode_statement(std::span<std::byte const>& in) {
  steal_statement s;
  s.tasks = protocol::get_varint(in);
  s.sum = get_sized(in);
  s.bags = protocol::get_varint(in);
  s.waiting = get_sized(in);
  return s;
}

}  // namespace skel::detail
