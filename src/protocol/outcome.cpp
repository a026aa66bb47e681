#include "outcome.hpp"

#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::role {

using namespace bytes;

void encode(outcome const& o, std::vector<std::byte>& out) {
  out.push_back(static_cast<std::byte>(o.how));
  for (auto const n : {o.task, static_cast<std::uint64_t>(o.rank), o.more, o.tasks, o.handed_out_again})
    put_varint(out, n);
  put_text(out, o.text);
}

outcome decode_outcome(std::span<std::byte const>& in) {
  outcome o;
  auto const how = std::to_integer<unsigned>(get_bytes(in, 1)[0]);
  if (how > static_cast<unsigned>(outcome::status::refused))
    throw protocol_error("message holds an unknown outcome");
  o.how = static_cast<outcome::status>(how);
  o.task = get_varint(in);
  o.rank = static_cast<int>(get_varint(in));
  o.more = get_varint(in);
  o.tasks = get_varint(in);
  o.handed_out_again = get_varint(in);
  o.text = get_text(in);
  return o;
}

}  // namespace skel::role
