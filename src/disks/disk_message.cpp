#include "disk_message.hpp"

#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

transport::packet encode(std::uint64_t number, disk_request const& r) {
  transport::packet p;
  auto& out = p.body();
  out.reserve(out.size() + r.content.size() + r.path.size() + r.to.size() + 64);
  out.push_back(static_cast<std::byte>(disk_message::request));
  bytes::put_varint(out, number);
  out.push_back(static_cast<std::byte>(r.what));
  bytes::put_varint(out, r.file);
  bytes::put_varint(out, r.offset);
  bytes::put_varint(out, r.length);
  bytes::put_text(out, r.path);
  bytes::put_text(out, r.to);
  bytes::put_block(out, r.content);
  return p;
}

transport::packet encode(std::uint64_t number, disk_answer&& a) {
  std::vector<std::byte> front{static_cast<std::byte>(disk_message::answer)};
  bytes::put_varint(front, number);
  bytes::put_text(front, a.error);
  bytes::put_raw(front, a.seconds);
  bytes::put_varint(front, a.content.size());
  a.content.prepend(front);
  return std::move(a.content);
}

transport::packet encode_use(bool begins) {
  transport::packet p;
  p.body().push_back(static_cast<std::byte>(begins ? disk_message::begins : disk_message::ends));
  return p;
}

transport::packet encode(store_note what) {
  transport::packet p;
  p.body().push_back(static_cast<std::byte>(what));
  return p;
}

store_note note_of(std::span<std::byte const> body) {
  auto const said = static_cast<store_note>(bytes::get_bytes(body, 1)[0]);
  if (said > store_note::end_of_answer) throw protocol_error("unknown note");
  return said;
}

transport::packet encode(opened_store const& s) {
  auto p = encode(store_note::opened);
  bytes::put_text(p.body(), s.name);
  bytes::put_text(p.body(), s.owner);
  bytes::put_varint(p.body(), static_cast<std::uint64_t>(s.attempt));
  p.body().push_back(static_cast<std::byte>(s.saves));
  return p;
}

opened_store decode_opened_store(std::span<std::byte const> body) {
  static_cast<void>(bytes::get_bytes(body, 1));
  opened_store s;
  s.name = bytes::get_text(body);
  s.owner = bytes::get_text(body);
  s.attempt = static_cast<int>(bytes::get_varint(body));
  s.saves = bytes::get_bytes(body, 1)[0] != std::byte{0};
  return s;
}

disk_message kind_of(std::span<std::byte const> body) {
  auto const said = static_cast<disk_message>(bytes::get_bytes(body, 1)[0]);
  if (said > disk_message::ends) throw protocol_error("unknown disk message");
  return said;
}

std::pair<std::uint64_t, disk_request> decode_request(std::span<std::byte const> body) {
  static_cast<void>(bytes::get_bytes(body, 1));
  std::pair<std::uint64_t, disk_request> all;
  auto& [number, r] = all;
  number = bytes::get_varint(body);
  r.what = static_cast<disk_call>(bytes::get_bytes(body, 1)[0]);
  if (r.what > disk_call::close_all) throw protocol_error("unknown disk call");
  r.file = bytes::get_varint(body);
  r.offset = bytes::get_varint(body);
  r.length = bytes::get_varint(body);
  r.path = bytes::get_text(body);
  r.to = bytes::get_text(body);
  r.content = bytes::get_bytes(body, bytes::get_varint(body));
  return all;
}

std::pair<std::uint64_t, disk_answer> decode_answer(transport::packet body) {
  auto in = body.bytes();
  static_cast<void>(bytes::get_bytes(in, 1));
  std::pair<std::uint64_t, disk_answer> all;
  auto& [number, a] = all;
  number = bytes::get_varint(in);
  a.error = bytes::get_text(in);
  a.seconds = bytes::get_raw<double>(in);
  if (bytes::get_varint(in) != in.size()) throw protocol_error("disk answer of another length");
  body.drop_front(body.size() - in.size());
  a.content = std::move(body);
  return all;
}

std::vector<std::byte> encode(opened_file const& f) {
  std::vector<std::byte> out;
  bytes::put_varint(out, f.size);
  bytes::put_block(out, f.head);
  bytes::put_block(out, f.tail);
  return out;
}

opened_file decode_opened(std::span<std::byte const> bytes) {
  opened_file f;
  f.size = bytes::get_varint(bytes);
  f.head = bytes::get_block(bytes);
  f.tail = bytes::get_block(bytes);
  return f;
}

std::vector<std::byte> encode(storage::disk_use const& u) {
  std::vector<std::byte> out;
  bytes::put_raw(out, u.load.value_or(0));
  bytes::put_varint(out, u.free);
  return out;
}

storage::disk_use decode_use(std::span<std::byte const> bytes) {
  storage::disk_use u;
  u.load = bytes::get_raw<double>(bytes);
  u.free = bytes::get_varint(bytes);
  return u;
}

std::vector<std::byte> encode(std::vector<std::string> const& texts) {
  std::vector<std::byte> out;
  bytes::put_varint(out, texts.size());
  for (auto const& t : texts) bytes::put_text(out, t);
  return out;
}

std::vector<std::string> decode_texts(std::span<std::byte const> bytes) {
  auto const n = bytes::get_varint(bytes);
  if (n > bytes.size()) throw protocol_error("truncated list of names");
  std::vector<std::string> texts;
  texts.reserve(n);
  for (std::uint64_t i = 0; i < n; ++i) texts.push_back(bytes::get_text(bytes));
  return texts;
}

}  // namespace skel::detail
