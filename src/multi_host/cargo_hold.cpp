#include "cargo_hold.hpp"

#include <utility>
#include <variant>

#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

using role::group_message;
namespace msg = role::group_msg;

namespace {

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

std::uint64_t unit_in(msg::packet const& m) { return m.pieces.unit; }
std::uint64_t unit_in(msg::returned const& m) { return m.runs.empty() ? 0 : m.runs.front().unit; }
std::uint64_t unit_in(msg::unit_done const& m) { return m.unit; }
template <class M>
std::uint64_t unit_in(M const& /*carries nothing*/) {
  return 0;
}

}  // namespace

bool cargo_hold::carries(group_message const& m) {
  return std::holds_alternative<msg::packet>(m) || std::holds_alternative<msg::returned>(m) ||
         std::holds_alternative<msg::unit_done>(m);
}

std::uint64_t cargo_hold::unit_of(group_message const& m) {
  return std::visit([](auto const& own) { return unit_in(own); }, m);
}

// --- actions

void cargo_hold::act(role::group_act::read const& a, group_cargo* /*with*/) {
  share_.add(a);
  engine_.calls().work_arrived().notify_all();
}

void cargo_hold::act(role::group_act::accept const& a, group_cargo* with) {
  packets_.accept(a, *with);
  engine_.calls().work_arrived().notify_all();
}

void cargo_hold::clear() {
  share_.close();
  packets_.clear();
  job_.reset();
}

// --- messages of this rank

group_cargo cargo_hold::load(group_message const& m) {
  group_cargo with;
  std::visit(
      [&](auto const& own) {
        if constexpr (requires { load(own, with); }) load(own, with);
      },
      m);
  return with;
}

void cargo_hold::load(msg::packet const& m, group_cargo& with) {
  double const begin = engine_.now();
  with.object = share_.cut(m.pieces);
  clock_.send_seconds += engine_.now() - begin;
}

void cargo_hold::load(msg::returned const& m, group_cargo& with) {
  for (auto const& these : m.runs)
    for (auto p = these.first; p < these.first + these.count; ++p)
      with.pieces.push_back({these.unit, p, packets_.take(m.term, these.unit, p)});
}

void cargo_hold::load(msg::unit_done const& m, group_cargo& with) {
  auto results = share_.remove(m.unit);
  if (results_stay_) return;
  std::uint64_t p = 0;
  for (auto& held : results) with.pieces.push_back({m.unit, p++, std::move(held)});
}

transport::packet cargo_hold::pack_pieces(role::piece_run const& pieces) {
  transport::packet to(engine_.wires().buffer());
  double const begin = engine_.now();
  work_.pack(*share_.cut(pieces), to.body());
  clock_.send_seconds += engine_.now() - begin;
  clock_.pieces_sent += pieces.count;
  return to;
}

transport::packet cargo_hold::pack_results(std::span<labelled_piece const> pieces) {
  auto const all = packed_together(pieces);
  auto to = all ? std::exchange(*all, {}) : transport::packet(engine_.wires().buffer());
  if (!all)
    for (auto const& p : pieces) bytes::put_block(to.body(), p.held.packed());
  return to;
}

transport::packet cargo_hold::pack(group_message const& m) {
  if (auto const* const p = std::get_if<msg::packet>(&m)) return pack_pieces(p->pieces);
  if (!carries(m)) return {};
  auto const with = load(m);
  auto to = pack_results(with.pieces);
  if (!std::holds_alternative<msg::unit_done>(m)) return to;
  std::vector<std::byte> front;
  bytes::put_varint(front, with.pieces.size());
  to.prepend(front);
  return to;
}

// --- messages of other ranks

group_cargo cargo_hold::unload(group_message const& m, std::span<std::byte const> body,
                               transport::packet& whole) const {
  group_cargo with;
  if (std::holds_alternative<msg::packet>(m)) {
    whole.drop_front(whole.size() - body.size());
    with.packed = std::move(whole);
    return with;
  }
  if (!carries(m)) return with;
  auto const kept = engine_.wires().carrier().share(std::move(whole));
  auto const take = [&](role::piece_run const& these) {
    if (these.count > body.size()) throw protocol_error("results end early");
    for (std::uint64_t p = 0; p < these.count; ++p) {
      auto const bytes = bytes::get_bytes(body, bytes::get_varint(body));
      auto const at = static_cast<std::size_t>(bytes.data() - kept->bytes().data());
      with.pieces.push_back({these.unit, these.first + p, {nullptr, kept, at, bytes.size()}});
    }
  };
  if (auto const* const returned = std::get_if<msg::returned>(&m))
    for (auto const& these : returned->runs) take(these);
  else
    take({unit_of(m), 0, bytes::get_varint(body)});
  return with;
}

}  // namespace skel::detail
