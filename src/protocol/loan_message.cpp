#include "skel/protocol/loan_message.hpp"

#include <array>

#include "skel/error.hpp"
#include "skel/protocol/bytes.hpp"

namespace skel::protocol {

namespace {
constexpr auto first_kind = static_cast<unsigned>(loan_message_kind::hello);
enum field : unsigned { has_number = 1, has_ids = 2, has_text = 4, has_result = 8, all_fields = 15 };
}  // namespace

char const* to_string(loan_message_kind kind) {
  static constexpr std::array<char const*, loan_message_kinds> names{
      "hello",  "ask",    "nothing",     "loan", "paid",    "held",   "not_held",
      "revoke", "failed", "please_stop", "stop", "stopped", "finish", "abort"};
  return names.at(static_cast<std::size_t>(kind) - first_kind);
}

void encode(loan_message const& m, std::vector<std::byte>& out) {
  unsigned const fields = (m.number != 0 ? has_number : 0U) | (m.ids.empty() ? 0U : has_ids) |
                          (m.text.empty() ? 0U : has_text) | (m.result ? has_result : 0U);
  out.push_back(static_cast<std::byte>(m.kind));
  out.push_back(static_cast<std::byte>(fields));
  if (fields & has_number) put_varint(out, m.number);
  if (fields & has_ids) {
    put_varint(out, m.ids.size());
    for (auto const id : m.ids) put_varint(out, id);
  }
  if (fields & has_text) put_text(out, m.text);
  if (!m.result) return;
  auto const& o = *m.result;
  put_varint(out, static_cast<std::uint64_t>(o.how));
  for (auto const n : {o.task, static_cast<std::uint64_t>(o.rank), o.more, o.tasks, o.handed_out_again})
    put_varint(out, n);
  put_text(out, o.text);
}

loan_message decode_loan_message(std::span<std::byte const>& bytes) {
  auto const head = get_bytes(bytes, 2);
  auto const kind = std::to_integer<unsigned>(head[0]);
  auto const fields = std::to_integer<unsigned>(head[1]);
  if (kind < first_kind || kind >= first_kind + loan_message_kinds || (fields & ~all_fields) != 0)
    throw protocol_error("not a message of a ring_steal call: all ranks must make the same calls");
  loan_message m;
  m.kind = static_cast<loan_message_kind>(kind);
  if (fields & has_number) m.number = get_varint(bytes);
  if (fields & has_ids) {
    auto const n = get_varint(bytes);
    if (n > bytes.size()) throw protocol_error("message holds fewer loans than it says");
    for (std::uint64_t i = 0; i < n; ++i) m.ids.push_back(get_varint(bytes));
  }
  if (fields & has_text) m.text = get_text(bytes);
  if (fields & has_result) {
    outcome o;
    auto const how = get_varint(bytes);
    if (how > static_cast<std::uint64_t>(outcome::status::source_failed))
      throw protocol_error("message holds an unknown outcome");
    o.how = static_cast<outcome::status>(how);
    o.task = get_varint(bytes);
    o.rank = static_cast<int>(get_varint(bytes));
    o.more = get_varint(bytes);
    o.tasks = get_varint(bytes);
    o.handed_out_again = get_varint(bytes);
    o.text = get_text(bytes);
    m.result = std::move(o);
  }
  return m;
}

}  // namespace skel::protocol
