#include "disk_message.hpp"

#include <tuple>

#include "skel/error.hpp"

namespace skel::detail {

namespace {

using role::codec::get, role::codec::put;

template <class Kind>
Kind first_of(std::span<std::byte const>& body) {
  Kind said{};
  get(said, body);
  return said;
}

}  // namespace

transport::packet encode(std::uint64_t number, disk_request const& r) {
  transport::packet p;
  p.body().reserve(p.body().size() + r.content.size() + r.path.size() + r.to.size() + 64);
  put(disk_message::request, p.body());
  put(number, p.body());
  put(r, p.body());
  return p;
}

transport::packet encode(std::uint64_t number, disk_answer&& a) {
  std::vector<std::byte> front;
  put(disk_message::answer, front);
  put(number, front);
  put(a.error, front);
  put(a.seconds, front);
  put(a.content.size(), front);
  a.content.prepend(front);
  return std::move(a.content);
}

transport::packet encode_use(bool begins) {
  transport::packet p;
  put(begins ? disk_message::begins : disk_message::ends, p.body());
  return p;
}

transport::packet encode(store_note what) {
  transport::packet p;
  put(what, p.body());
  return p;
}

transport::packet encode(opened_store const& s) {
  auto p = encode(store_note::opened);
  put(s, p.body());
  return p;
}

store_note note_of(std::span<std::byte const> body) { return first_of<store_note>(body); }
disk_message kind_of(std::span<std::byte const> body) { return first_of<disk_message>(body); }

opened_store decode_opened_store(std::span<std::byte const> body) {
  std::ignore = first_of<store_note>(body);
  return read_content<opened_store>(body);
}

std::pair<std::uint64_t, disk_request> decode_request(std::span<std::byte const> body) {
  std::ignore = first_of<disk_message>(body);
  std::pair<std::uint64_t, disk_request> all;
  get(all.first, body);
  get(all.second, body);
  return all;
}

std::pair<std::uint64_t, disk_answer> decode_answer(transport::packet body) {
  auto in = body.bytes();
  std::ignore = first_of<disk_message>(in);
  std::pair<std::uint64_t, disk_answer> all;
  auto& [number, a] = all;
  std::size_t size = 0;
  get(number, in);
  get(a.error, in);
  get(a.seconds, in);
  get(size, in);
  if (size != in.size()) throw protocol_error("disk answer of another length");
  body.drop_front(body.size() - in.size());
  a.content = std::move(body);
  return all;
}

}  // namespace skel::detail
