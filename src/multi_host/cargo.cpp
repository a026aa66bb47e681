// What travels in a multi_host call: packets, results, and their way into messages and out of them.
#include <memory>
#include <utility>

#include "call/user_code.hpp"
#include "run.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

using role::peer_message;
using role::peer_message_kind;

std::shared_ptr<host_packet const> group_run::cut(peer_message const& m) {
  double const begin = now();
  auto p = work_.cut(*duty_->units.at(m.ids[0]), m.ids[1], m.ids[2]);
  clock_.send_seconds += now() - begin;
  return p;
}

group_run::held_piece group_run::take_result(term_id term, std::uint64_t unit, std::uint64_t piece) {
  auto node = finished_.extract(finished_.find({term, unit, piece}));
  return std::move(node.mapped());
}

// On its way to this rank itself, everything stays as it is.
void group_run::load(peer_message const& m, cargo& with) {
  if (m.kind == peer_message_kind::packet) {
    with.object = cut(m);
  } else if (m.kind == peer_message_kind::returned) {
    for (std::size_t k = 2; k + 2 < m.ids.size(); k += 3)
      for (auto p = m.ids[k + 1]; p < m.ids[k + 1] + m.ids[k + 2]; ++p)
        with.pieces.push_back({m.ids[k], p, take_result(m.number, m.ids[k], p)});
  } else if (m.kind == peer_message_kind::unit_done) {
    std::uint64_t p = 0;
    if (!sink_on_hosts_)
      for (auto& held : duty_->kept[m.ids[0]]) with.pieces.push_back({m.ids[0], p++, std::move(held)});
    duty_->kept.erase(m.ids[0]);
    duty_->units.erase(m.ids[0]);
  }
}

// The packet in which these results, and no others, lie one after the other.
std::shared_ptr<transport::packet> group_run::packed_together(std::span<labelled_piece const> pieces) {
  std::size_t at = 0;
  for (auto const& p : pieces) {
    if (!p.held.whole || p.held.whole != pieces.front().held.whole || p.held.at != at + bytes::most_varint)
      return nullptr;
    at = p.held.at + p.held.size;
  }
  return at > 0 && at == pieces.front().held.whole->size() ? pieces.front().held.whole : nullptr;
}

transport::packet group_run::pack_packet(peer_message const& m) {
  transport::packet to(engine_.wires().buffer());
  double const begin = now();
  work_.pack(*work_.cut(*duty_->units.at(m.ids[0]), m.ids[1], m.ids[2]), to.body());
  clock_.send_seconds += now() - begin;
  clock_.pieces_sent += m.ids[2];
  return to;
}

transport::packet group_run::pack_results(peer_message const& m) {
  cargo with;
  load(m, with);
  auto const all = packed_together(with.pieces);
  auto to = all ? std::exchange(*all, {}) : transport::packet(engine_.wires().buffer());
  if (!all)
    for (auto const& p : with.pieces) bytes::put_block(to.body(), p.held.packed());
  if (m.kind == peer_message_kind::unit_done) {
    std::vector<std::byte> front;
    bytes::put_varint(front, with.pieces.size());
    to.prepend(front);
  }
  return to;
}

transport::packet group_run::pack_clocks() {
  transport::packet to;
  bytes::put_varint(to.body(), host_.taken_back());
  clock_.pack(to.body());
  pack_stats(own_stats(), to.body());
  return to;
}

// What a message to another rank carries.
transport::packet group_run::pack(peer_message const& m) {
  switch (m.kind) {
    case peer_message_kind::packet:
      return pack_packet(m);
    case peer_message_kind::returned:
    case peer_message_kind::unit_done:
      return pack_results(m);
    case peer_message_kind::stopped:
      return pack_clocks();
    default:
      return {};
  }
}

// What came with a message of another rank. Results stay where they are in it.
void group_run::unload(peer_message const& m, std::span<std::byte const> body, transport::packet& whole,
                       cargo& with) const {
  std::shared_ptr<transport::packet> kept;
  auto const one = [&](std::uint64_t unit, std::uint64_t piece) {
    if (!kept) kept = engine_.wires().share(std::move(whole));
    auto const bytes = bytes::get_bytes(body, bytes::get_varint(body));
    auto const at = static_cast<std::size_t>(bytes.data() - kept->bytes().data());
    with.pieces.push_back({unit, piece, {nullptr, kept, at, bytes.size()}});
  };
  if (m.kind == peer_message_kind::packet) {
    whole.drop_front(whole.size() - body.size());
    with.packed = std::move(whole);
  } else if (m.kind == peer_message_kind::returned) {
    for (std::size_t k = 2; k + 2 < m.ids.size(); k += 3) {
      if (m.ids[k + 2] > body.size()) throw protocol_error("results end early");
      for (std::uint64_t p = 0; p < m.ids[k + 2]; ++p) one(m.ids[k], m.ids[k + 1] + p);
    }
  } else if (m.kind == peer_message_kind::unit_done && !m.ids.empty()) {
    auto const n = bytes::get_varint(body);
    if (n > body.size()) throw protocol_error("results end early");
    for (std::uint64_t p = 0; p < n; ++p) one(m.ids[0], p);
  }
}

void group_run::send(int to, peer_message m) {
  bool const drained =
      draining_ && (m.kind == peer_message_kind::packet || m.kind == peer_message_kind::returned ||
                    m.kind == peer_message_kind::unit_done);
  if (drained) return;  // what it would carry is gone
  double const begin = span_begin();
  cargo with;
  transport::packet body;
  auto const bad = thrown_by([&] {
    if (to == rank_)
      load(m, with);
    else
      body = pack(m);
  });
  if (bad) {
    fail(m.ids.empty() ? 0 : m.ids[m.kind == peer_message_kind::returned && m.ids.size() > 2 ? 2 : 0], *bad);
    return;
  }
  if (to == rank_)
    to_self_.push({std::move(m), std::move(with)});
  else
    post(to, m, std::move(body), begin);
}

}  // namespace skel::detail
