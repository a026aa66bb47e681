#include "cargo_hold.hpp"

#include <utility>
#include <variant>

#include "call/quantum.hpp"
#include "call/user_code.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

using role::group_message;
namespace group = role::group;

// --- units that this rank leads

void led_share::add(role::group::read const& r) {
  if (!data_) {
    data_ = std::make_shared<data>();
    data_->term = r.term;
    data_->carried = work_.make_state();
  }
  auto const& unit = data_->units[r.unit] = work_.make_unit();
  reads_.push_back({data_, unit, r.unit, r.fresh, r.alone});
}

// Results of one message lie in order; those that another rank has sent before are skipped.
void led_share::keep(role::piece_run const& fresh, group_cargo& with) {
  auto& all = data_->kept[fresh.unit];
  if (all.size() < fresh.first + fresh.count) all.resize(fresh.first + fresh.count);
  for (auto p = fresh.first; p < fresh.first + fresh.count; ++p) {
    while (with.pieces.at(with.used).unit != fresh.unit || with.pieces[with.used].piece != p) ++with.used;
    all[p] = std::move(with.pieces[with.used++].held);
  }
}

std::shared_ptr<host_packet const> led_share::cut(role::piece_run const& pieces) const {
  return work_.cut(*data_->units.at(pieces.unit), pieces.first, pieces.count);
}

unit_of_results led_share::remove(std::uint64_t unit) {
  data_->units.erase(unit);
  auto const results = data_->kept.extract(unit);
  return results ? std::move(results.mapped()) : unit_of_results{};
}

void led_share::close() {
  reads_.clear();
  deliveries_.clear();
  data_.reset();
}

std::optional<led_share::read_job> led_share::next_read(bool quiet) {
  if (reads_.empty() || (reads_.front().alone && !quiet)) return {};
  auto next = std::move(reads_.front());
  reads_.pop_front();
  return next;
}

std::optional<led_share::sink_job> led_share::next_delivery() {
  if (deliveries_.empty() || delivering_) return {};
  auto next = std::move(deliveries_.front());
  deliveries_.pop_front();
  delivering_ = true;
  return next;
}

// --- packets that it processes

void worker_packets::accept(role::group::accept const& a, group_cargo& with) {
  auto p = std::make_shared<worker_packet>();
  p->term = a.term;
  p->first = a.pieces.first;
  p->unfinished = a.pieces.count;
  p->own = with.object != nullptr;
  p->stays = p->own && own_stay_;
  p->object = std::move(with.object);
  p->packed = std::move(with.packed);
  packets_[a.id] = std::move(p);
}

bool worker_packets::finished(process_job const& j, std::vector<held_piece>& results) {
  auto const packet = packets_.find(j.id);
  if (packet == packets_.end()) return false;
  auto const n = results.size();
  for (std::uint64_t i = 0; i < n; ++i)
    finished_.emplace(std::array{j.packet->term, j.pieces.unit, j.pieces.first + i}, std::move(results[i]));
  j.packet->unfinished -= n;
  if (j.packet->unfinished == 0) packets_.erase(packet);
  return true;
}

held_piece worker_packets::take(role::term_id term, std::uint64_t unit, std::uint64_t piece) {
  auto node = finished_.extract(finished_.find({term, unit, piece}));
  return std::move(node.mapped());
}

void worker_packets::forget(role::term_id term) {
  std::erase_if(packets_, [&](auto const& p) { return p.second->term == term; });
  std::erase_if(finished_, [&](auto const& p) { return p.first[0] == term; });
}

void worker_packets::clear() {
  packets_.clear();
  finished_.clear();
}

// --- units for its sink

void unit_sink::push(std::uint64_t unit, std::vector<labelled_piece>& results) {
  auto& all = waiting_[unit];
  for (auto& p : results) all.push_back(std::move(p.held));
}

std::optional<unit_sink::entry> unit_sink::next() {
  if (waiting_.empty() || stopped_) return {};
  if (in_order_ && waiting_.begin()->first != next_) return {};
  auto node = waiting_.extract(waiting_.begin());
  return entry{node.key(), std::move(node.mapped())};
}

void unit_sink::received(double seconds, bool failed, bool goes_on) {
  seconds_ += seconds;
  ++next_;
  sunk_ += failed ? 0 : 1;
  stopped_ = failed || !goes_on;
}

bool unit_sink::give(std::uint64_t unit, unit_of_results& results) {
  for (std::uint64_t p = 0; p < results.size(); ++p) {
    auto& held = results[p];
    if (!held.object) held.object = work_.unpack_result(held.packed(), held.whole);
    if (!work_.sink(unit, p, *held.object)) return false;
    held = {};  // the last reference to a message releases its memory for the next one
    not_of_the_user([&] { engine_.driver().try_progress(slice_seconds); });
  }
  return true;
}

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

std::uint64_t unit_in(group::packet const& m) { return m.pieces.unit; }
std::uint64_t unit_in(group::returned const& m) { return m.runs.empty() ? 0 : m.runs.front().unit; }
std::uint64_t unit_in(group::unit_done const& m) { return m.unit; }
template <class M>
std::uint64_t unit_in(M const& /*carries nothing*/) {
  return 0;
}

}  // namespace

bool cargo_hold::carries(group_message const& m) {
  return holds_any<group::packet, group::returned, group::unit_done>(m);
}

std::uint64_t cargo_hold::unit_of(group_message const& m) {
  return std::visit([](auto const& own) { return unit_in(own); }, m);
}

// --- actions

void cargo_hold::act(role::group::read const& a, group_cargo* /*with*/) {
  share_.add(a);
  engine_.calls().work_arrived().notify_all();
}

void cargo_hold::act(role::group::accept const& a, group_cargo* with) {
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

void cargo_hold::load(group::packet const& m, group_cargo& with) {
  double const begin = engine_.now();
  with.object = share_.cut(m.pieces);
  clock_.send_seconds += engine_.now() - begin;
}

void cargo_hold::load(group::returned const& m, group_cargo& with) {
  for (auto const& these : m.runs)
    for (auto p = these.first; p < these.first + these.count; ++p)
      with.pieces.push_back({these.unit, p, packets_.take(m.term, these.unit, p)});
}

void cargo_hold::load(group::unit_done const& m, group_cargo& with) {
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
  if (auto const* const p = std::get_if<group::packet>(&m)) return pack_pieces(p->pieces);
  if (!carries(m)) return {};
  auto const with = load(m);
  auto to = pack_results(with.pieces);
  if (!std::holds_alternative<group::unit_done>(m)) return to;
  std::vector<std::byte> front;
  bytes::put_varint(front, with.pieces.size());
  to.prepend(front);
  return to;
}

// --- messages of other ranks

group_cargo cargo_hold::unload(group_message const& m, std::span<std::byte const> body,
                               transport::packet& whole) const {
  group_cargo with;
  if (std::holds_alternative<group::packet>(m)) {
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
  if (auto const* const returned = std::get_if<group::returned>(&m))
    for (auto const& these : returned->runs) take(these);
  else
    take({unit_of(m), 0, bytes::get_varint(body)});
  return with;
}

}  // namespace skel::detail
