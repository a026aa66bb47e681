// What travels in a multi_host call: packets, results, and their way into messages and out of them.
#include <memory>
#include <utility>

#include "call/user_code.hpp"
#include "run.hpp"
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

bool carries_work(group_message const& m) {
  return as<msg::packet>(m) != nullptr || as<msg::returned>(m) != nullptr || as<msg::unit_done>(m) != nullptr;
}

// The unit that a message which carries something is about.
std::uint64_t unit_of(group_message const& m) {
  if (auto const* p = as<msg::packet>(m)) return p->pieces.unit;
  if (auto const* r = as<msg::returned>(m)) return r->runs.empty() ? 0 : r->runs.front().unit;
  if (auto const* d = as<msg::unit_done>(m)) return d->unit;
  return 0;
}

}  // namespace

std::shared_ptr<host_packet const> group_run::cut(piece_run const& pieces) {
  double const begin = now();
  auto p = work_.cut(*duty_->units.at(pieces.unit), pieces.first, pieces.count);
  clock_.send_seconds += now() - begin;
  return p;
}

group_run::held_piece group_run::take_result(term_id term, std::uint64_t unit, std::uint64_t piece) {
  auto node = finished_.extract(finished_.find({term, unit, piece}));
  return std::move(node.mapped());
}

// On its way to this rank itself, everything stays as it is.
void group_run::load(group_message const& m, cargo& with) {
  if (auto const* p = as<msg::packet>(m))
    load(*p, with);
  else if (auto const* r = as<msg::returned>(m))
    load(*r, with);
  else if (auto const* d = as<msg::unit_done>(m))
    load(*d, with);
}

void group_run::load(msg::packet const& m, cargo& with) { with.object = cut(m.pieces); }

void group_run::load(msg::returned const& m, cargo& with) {
  for (auto const& these : m.runs)
    for (auto p = these.first; p < these.first + these.count; ++p)
      with.pieces.push_back({these.unit, p, take_result(m.term, these.unit, p)});
}

void group_run::load(msg::unit_done const& m, cargo& with) {
  std::uint64_t p = 0;
  if (!sink_on_hosts_)
    for (auto& held : duty_->kept[m.unit]) with.pieces.push_back({m.unit, p++, std::move(held)});
  duty_->kept.erase(m.unit);
  duty_->units.erase(m.unit);
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

transport::packet group_run::pack_packet(msg::packet const& m) {
  transport::packet to(engine_.wires().buffer());
  double const begin = now();
  work_.pack(*work_.cut(*duty_->units.at(m.pieces.unit), m.pieces.first, m.pieces.count), to.body());
  clock_.send_seconds += now() - begin;
  clock_.pieces_sent += m.pieces.count;
  return to;
}

transport::packet group_run::pack_results(cargo with) {
  auto const all = packed_together(with.pieces);
  auto to = all ? std::exchange(*all, {}) : transport::packet(engine_.wires().buffer());
  if (!all)
    for (auto const& p : with.pieces) bytes::put_block(to.body(), p.held.packed());
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
transport::packet group_run::pack(group_message const& m) {
  cargo with;
  if (auto const* p = as<msg::packet>(m)) return pack_packet(*p);
  if (auto const* r = as<msg::returned>(m)) {
    load(*r, with);
    return pack_results(std::move(with));
  }
  if (auto const* d = as<msg::unit_done>(m)) {
    load(*d, with);
    std::vector<std::byte> front;
    bytes::put_varint(front, with.pieces.size());
    auto to = pack_results(std::move(with));
    to.prepend(front);
    return to;
  }
  auto const* const call = as<role::call_message>(m);
  return call != nullptr && std::holds_alternative<role::stopped>(*call) ? pack_clocks()
                                                                         : transport::packet{};
}

// What came with a message of another rank. Results stay where they are in it.
void group_run::unload(group_message const& m, std::span<std::byte const> body, transport::packet& whole,
                       cargo& with) const {
  std::shared_ptr<transport::packet> kept;
  auto const take = [&](piece_run const& these) {
    if (these.count > body.size()) throw protocol_error("results end early");
    for (std::uint64_t p = 0; p < these.count; ++p) {
      if (!kept) kept = engine_.wires().share(std::move(whole));
      auto const bytes = bytes::get_bytes(body, bytes::get_varint(body));
      auto const at = static_cast<std::size_t>(bytes.data() - kept->bytes().data());
      with.pieces.push_back({these.unit, these.first + p, {nullptr, kept, at, bytes.size()}});
    }
  };
  if (as<msg::packet>(m) != nullptr) {
    whole.drop_front(whole.size() - body.size());
    with.packed = std::move(whole);
  } else if (auto const* r = as<msg::returned>(m)) {
    for (auto const& these : r->runs) take(these);
  } else if (auto const* d = as<msg::unit_done>(m)) {
    take({d->unit, 0, bytes::get_varint(body)});
  }
}

void group_run::send(int to, group_message m) {
  if (draining_ && carries_work(m)) return;  // it is gone
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
    fail(unit_of(m), *bad);
    return;
  }
  if (to == rank_)
    to_self_.push({std::move(m), std::move(with)});
  else
    post(to, m, std::move(body), begin);
}

}  // namespace skel::detail
