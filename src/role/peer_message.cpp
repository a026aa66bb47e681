#include "role/peer_message.hpp"

#include <array>

#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::role {

using namespace bytes;

namespace {
constexpr auto first_peer_kind = static_cast<unsigned>(peer_message_kind::hello);
enum peer_field : unsigned {
  carries_number = 1,
  carries_ids = 2,
  carries_text = 4,
  carries_result = 8,
  all_peer_fields = 15
};
}  // namespace

char const* to_string(peer_message_kind what) {
  static constexpr std::array<char const*, peer_message_kinds> names{
      "hello",    "failed", "please_stop",   "part_lost", "stop",     "stopped",      "finish",
      "abort",    "ask",    "nothing",       "loan",      "paid",     "held",         "not_held",
      "revoke",   "worth",  "returned_loan", "problem",   "solution", "need_problem", "need_solution",
      "reached",  "lead",   "serve",         "go",        "request",  "packet",       "got",
      "returned", "loaded", "left",          "unit_done", "split",    "let_go",       "restart",
      "bundle",   "saved",  "unreadable"};
  return names.at(static_cast<std::size_t>(what) - first_peer_kind);
}

bool for_roll_call(peer_message_kind what) {
  return what == peer_message_kind::hello || what == peer_message_kind::failed ||
         what == peer_message_kind::please_stop || what == peer_message_kind::part_lost ||
         what == peer_message_kind::stopped;
}

std::optional<call_message> to_call(peer_message const& m) {
  using peer = peer_message_kind;
  switch (m.kind) {
    case peer::hello:
      return hello{m.number, 1, m.ids.empty() ? 0.0 : static_cast<double>(m.ids[0])};
    case peer::failed:
      return failed{m.number, m.text};
    case peer::please_stop:
      return please_stop{};
    case peer::part_lost:
      return part_lost{static_cast<rank_id>(m.number)};
    case peer::stop:
      return stop{m.number == 1};
    case peer::stopped:
      return stopped{};
    case peer::finish:
      return finish{m.result.value_or(outcome{})};
    case peer::abort:
      return abort{m.text};
    default:
      return {};
  }
}

peer_message to_peer(call_message const& m) {
  using peer = peer_message_kind;
  if (auto const* h = std::get_if<hello>(&m)) {
    peer_message p{.kind = peer::hello, .number = h->call_hash};
    if (h->power > 0) p.ids = {static_cast<std::uint64_t>(h->power)};
    return p;
  }
  if (auto const* f = std::get_if<failed>(&m))
    return {.kind = peer::failed, .number = f->task, .text = f->text};
  if (std::holds_alternative<please_stop>(m)) return {.kind = peer::please_stop};
  if (auto const* l = std::get_if<part_lost>(&m))
    return {.kind = peer::part_lost, .number = static_cast<std::uint64_t>(l->rank)};
  if (auto const* s = std::get_if<stop>(&m)) return {.kind = peer::stop, .number = s->early ? 1U : 0U};
  if (auto const* e = std::get_if<finish>(&m)) return {.kind = peer::finish, .result = e->how};
  if (auto const* a = std::get_if<role::abort>(&m)) return {.kind = peer::abort, .text = a->text};
  return {.kind = peer::stopped};
}

void encode(peer_message const& m, std::vector<std::byte>& out) {
  unsigned const fields = (m.number != 0 ? carries_number : 0U) | (m.ids.empty() ? 0U : carries_ids) |
                          (m.text.empty() ? 0U : carries_text) | (m.result ? carries_result : 0U);
  out.push_back(static_cast<std::byte>(m.kind));
  out.push_back(static_cast<std::byte>(fields));
  if (fields & carries_number) put_varint(out, m.number);
  if (fields & carries_ids) {
    put_varint(out, m.ids.size());
    for (auto const id : m.ids) put_varint(out, id);
  }
  if (fields & carries_text) put_text(out, m.text);
  if (m.result) encode(*m.result, out);
}

peer_message decode_peer_message(std::span<std::byte const>& in) {
  auto const head = get_bytes(in, 2);
  auto const what = std::to_integer<unsigned>(head[0]);
  auto const fields = std::to_integer<unsigned>(head[1]);
  if (what < first_peer_kind || what >= first_peer_kind + peer_message_kinds ||
      (fields & ~all_peer_fields) != 0)
    throw protocol_error("not a message of this skeleton: all ranks must make the same calls");
  peer_message m;
  m.kind = static_cast<peer_message_kind>(what);
  if (fields & carries_number) m.number = get_varint(in);
  if (fields & carries_ids) {
    auto const n = get_varint(in);
    if (n > in.size()) throw protocol_error("message holds fewer numbers than it says");
    for (std::uint64_t i = 0; i < n; ++i) m.ids.push_back(get_varint(in));
  }
  if (fields & carries_text) m.text = get_text(in);
  if (fields & carries_result) m.result = decode_outcome(in);
  return m;
}

}  // namespace skel::role
