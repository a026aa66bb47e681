#include "farm/role/message.hpp"

#include <array>
#include <cmath>

#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::role {

using namespace bytes;

char const* to_string(message_kind kind) {
  static constexpr std::array<char const*, message_kinds> names{
      "hello", "ask",     "grant",  "nothing", "results", "failed", "take_stock", "stock", "please_stop",
      "stop",  "stopped", "finish", "abort",   "steal",   "give",   "none",       "begins"};
  return names.at(static_cast<std::size_t>(kind));
}

bool for_ledger(message_kind kind) {
  switch (kind) {
    case message_kind::hello:
    case message_kind::ask:
    case message_kind::results:
    case message_kind::failed:
    case message_kind::stock:
    case message_kind::please_stop:
    case message_kind::stopped:
    case message_kind::begins:
      return true;
    default:
      return false;
  }
}

bool carries_tasks(message_kind kind) { return kind == message_kind::grant || kind == message_kind::give; }

namespace {

// Which fields follow the kind.
enum field : unsigned {
  has_number = 1,
  has_extra = 2,
  has_power = 4,
  has_ranges = 8,
  has_text = 16,
  has_result = 32,
  has_running = 64
};
constexpr unsigned all_fields = 127;

void encode_ranges(range_list const& ranges, std::vector<std::byte>& out) {
  put_varint(out, ranges.size());
  for (auto const& r : ranges) {
    put_varint(out, r.first);
    put_varint(out, r.count);
    put_varint(out, r.stride);
  }
}

range_list decode_ranges(std::span<std::byte const>& in) {
  auto const n = get_varint(in);
  if (n > in.size() / 3) throw protocol_error("message names more ranges than it holds");
  range_list ranges;
  ranges.reserve(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    task_range r;
    r.first = get_varint(in);
    r.count = get_varint(in);
    r.stride = get_varint(in);
    // the last task's number must fit
    std::uint64_t span = 0;
    if (r.count == 0 || r.stride == 0 || __builtin_mul_overflow(r.count, r.stride, &span) ||
        __builtin_add_overflow(r.first, span, &span))
      throw protocol_error("message holds a range that is no range");
    ranges.push_back(r);
  }
  return ranges;
}

}  // namespace

void encode(message const& m, std::vector<std::byte>& out) {
  unsigned fields = 0;
  if (m.number != 0) fields |= has_number;
  if (m.extra != 0) fields |= has_extra;
  if (m.power != 0) fields |= has_power;
  if (!m.ranges.empty()) fields |= has_ranges;
  if (!m.text.empty()) fields |= has_text;
  if (m.result) fields |= has_result;
  if (!m.running.empty()) fields |= has_running;
  out.push_back(static_cast<std::byte>(m.kind));
  out.push_back(static_cast<std::byte>(fields));
  if (fields & has_number) put_varint(out, m.number);
  if (fields & has_extra) put_varint(out, m.extra);
  if (fields & has_power) put_raw(out, m.power);
  if (fields & has_ranges) encode_ranges(m.ranges, out);
  if (fields & has_text) put_text(out, m.text);
  if (fields & has_result) encode(*m.result, out);
  if (fields & has_running) encode_ranges(m.running, out);
}

message decode(std::span<std::byte const>& in) {
  message m;
  auto const head = get_bytes(in, 2);
  auto const kind = std::to_integer<unsigned>(head[0]);
  auto const fields = std::to_integer<unsigned>(head[1]);
  if (kind >= message_kinds || fields > all_fields) throw protocol_error("message of an unknown kind");
  m.kind = static_cast<message_kind>(kind);
  if (fields & has_number) m.number = get_varint(in);
  if (fields & has_extra) m.extra = get_varint(in);
  if (fields & has_power) m.power = get_raw<double>(in);
  if (!(m.power >= 0 && std::isfinite(m.power))) throw protocol_error("message holds a power that cannot be");
  if (fields & has_ranges) m.ranges = decode_ranges(in);
  if (fields & has_text) m.text = get_text(in);
  if (fields & has_result) m.result = decode_outcome(in);
  if (fields & has_running) m.running = decode_ranges(in);
  return m;
}

}  // namespace skel::role
