#include "cargo_codec.hpp"

#include <utility>
#include <variant>

#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

using role::group_message;
namespace msg = role::group_msg;

namespace {

template <class M>
M const* as(group_message const& m) {
  return std::get_if<M>(&m);
}

// Returns the packet that consists of exactly these results, in this order; null if there is none.
std::shared_ptr<transport::packet> packed_together(std::span<labelled_piece const> pieces) {
  std::size_t at = 0;
  for (auto const& p : pieces) {
    if (!p.held.whole || p.held.whole != pieces.front().held.whole || p.held.at != at + bytes::most_varint)
      return nullptr;
    at = p.held.at + p.held.size;
  }
  return at > 0 && at == pieces.front().held.whole->size() ? pieces.front().held.whole : nullptr;
}

}  // namespace

bool cargo_codec::carries(group_message const& m) {
  return as<msg::packet>(m) != nullptr || as<msg::returned>(m) != nullptr || as<msg::unit_done>(m) != nullptr;
}

std::uint64_t cargo_codec::unit_of(group_message const& m) {
  if (auto const* p = as<msg::packet>(m)) return p->pieces.unit;
  if (auto const* r = as<msg::returned>(m)) return r->runs.empty() ? 0 : r->runs.front().unit;
  if (auto const* d = as<msg::unit_done>(m)) return d->unit;
  return 0;
}

void cargo_codec::load(group_message const& m, group_cargo& with) {
  if (auto const* p = as<msg::packet>(m))
    load(*p, with);
  else if (auto const* r = as<msg::returned>(m))
    load(*r, with);
  else if (auto const* d = as<msg::unit_done>(m))
    load(*d, with);
}

void cargo_codec::load(msg::packet const& m, group_cargo& with) {
  double const begin = engine_.now();
  with.object = share_.cut(m.pieces);
  clock_.send_seconds += engine_.now() - begin;
}

void cargo_codec::load(msg::returned const& m, group_cargo& with) {
  for (auto const& these : m.runs)
    for (auto p = these.first; p < these.first + these.count; ++p)
      with.pieces.push_back({these.unit, p, packets_.take(m.term, these.unit, p)});
}

void cargo_codec::load(msg::unit_done const& m, group_cargo& with) {
  auto results = share_.remove(m.unit);
  if (results_stay_) return;
  std::uint64_t p = 0;
  for (auto& held : results) with.pieces.push_back({m.unit, p++, std::move(held)});
}

transport::packet cargo_codec::pack_pieces(role::piece_run const& pieces) {
  transport::packet to(engine_.wires().buffer());
  double const begin = engine_.now();
  work_.pack(*share_.cut(pieces), to.body());
  clock_.send_seconds += engine_.now() - begin;
  clock_.pieces_sent += pieces.count;
  return to;
}

transport::packet cargo_codec::pack_results(std::span<labelled_piece const> pieces) {
  auto const all = packed_together(pieces);
  auto to = all ? std::exchange(*all, {}) : transport::packet(engine_.wires().buffer());
  if (!all)
    for (auto const& p : pieces) bytes::put_block(to.body(), p.held.packed());
  return to;
}

transport::packet cargo_codec::pack(group_message const& m) {
  if (auto const* p = as<msg::packet>(m)) return pack_pieces(p->pieces);
  group_cargo with;
  if (auto const* r = as<msg::returned>(m)) {
    load(*r, with);
    return pack_results(with.pieces);
  }
  if (auto const* d = as<msg::unit_done>(m)) {
    load(*d, with);
    std::vector<std::byte> front;
    bytes::put_varint(front, with.pieces.size());
    auto to = pack_results(with.pieces);
    to.prepend(front);
    return to;
  }
  return {};
}

group_cargo cargo_codec::unload(group_message const& m, std::span<std::byte const> body,
                                transport::packet& whole) const {
  group_cargo with;
  if (as<msg::packet>(m) != nullptr) {
    whole.drop_front(whole.size() - body.size());
    with.packed = std::move(whole);
    return with;
  }
  auto const* const returned = as<msg::returned>(m);
  auto const* const done = as<msg::unit_done>(m);
  if (returned == nullptr && done == nullptr) return with;
  auto const kept = engine_.wires().carrier().share(std::move(whole));
  auto const take = [&](role::piece_run const& these) {
    if (these.count > body.size()) throw protocol_error("results end early");
    for (std::uint64_t p = 0; p < these.count; ++p) {
      auto const bytes = bytes::get_bytes(body, bytes::get_varint(body));
      auto const at = static_cast<std::size_t>(bytes.data() - kept->bytes().data());
      with.pieces.push_back({these.unit, these.first + p, {nullptr, kept, at, bytes.size()}});
    }
  };
  if (returned != nullptr)
    for (auto const& these : returned->runs) take(these);
  else
    take({done->unit, 0, bytes::get_varint(body)});
  return with;
}

}  // namespace skel::detail
