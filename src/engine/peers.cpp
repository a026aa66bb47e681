#include "peers.hpp"

#include <utility>

#include "process_end.hpp"
#include "skel/bytes.hpp"

namespace skel::detail {

void peers::declare_lost(int rank) {
  if (rank == wires_.rank() || !wires_.set_lost(rank, true)) return;
  disks_.set_lost(rank, true);
  if (!farewell_.program.empty() && how_ended(wires_.carrier().in_job(rank)) == process_end::from_outside)
    lost_outside_.insert(rank);
  announce(rank);
  if (!wires_.ends_calls(rank)) return;
  for (auto const& [key, running] : calls_.runs()) running->on_rank_lost(rank);
  give_up_root();
}

void peers::declare_failed() {
  for (int const rank : wires_.carrier().failed()) declare_lost(rank);
}

// The ranks that are left have not agreed on going on without it.
void peers::give_up_root() {
  if (!wires_.is_lost(0) || !wires_.ends_calls(0) || std::exchange(root_given_up_, true)) return;
  farewell_.on_root_lost();
}

void peers::found(int rank) {
  forget_loss(rank);
  if (rank == 0) {
    farewell_.forget_root_lost();
    root_given_up_ = false;
  }
  announce(rank);
  if (wires_.rank() == 0) {
    send_view(rank, rank);  // what it has missed follows
    for (int const r : wires_.lost()) send_view(rank, r);
  } else if (rank != 0) {
    tell(0, rank, false);
  }
}

void peers::forget_loss(int rank) {
  wires_.set_lost(rank, false);
  lost_outside_.erase(rank);
  disks_.set_lost(rank, false);
}

// The root sends its view of a rank to the living ranks.
void peers::announce(int rank) {
  if (wires_.rank() != 0 || rank == 0) return;
  for (int r = 1; r < wires_.size(); ++r)
    if (r != rank && !wires_.is_lost(r)) send_view(r, rank);
}

void peers::tell(int to, int about, bool lost) {
  transport::packet p;
  bytes::put_varint(p.body(), lost ? 1 : 0);
  bytes::put_varint(p.body(), static_cast<std::uint64_t>(about));
  calls_.send(to, key_of(part::peers), std::move(p));
}

// Leaders report to the root. Other ranks ask it when they hear a lost rank, which may be dead: its message
// may be late. A rank that was thought lost learns that it was found, and then which ranks are lost.
void peers::on_control(int from, std::span<std::byte const> body) {
  bool const lost = bytes::get_varint(body) != 0;
  auto const about = static_cast<int>(bytes::get_varint(body));
  if (about < 0 || about >= wires_.size()) return;
  auto& detector = wires_.detector();
  auto const& tree = detector.tree();
  int const self = wires_.rank();
  if (self == 0) {
    if (about == 0) return;
    if (about == tree.leader_of(from)) detector.adopt(from, lost);
    if (from != tree.leader_of(about)) {
      if (!lost && wires_.is_lost(about)) send_view(from, about);
    } else if (lost) {
      if (!detector.has_adopted(about)) declare_lost(about);
    } else if (wires_.is_lost(about)) {
      found(about);
    }
  } else if (from != 0) {
    if (about == 0 && lost && from == tree.leader_of(self)) detector.doubt_root();
  } else if (about == self) {
    for (auto const all = wires_.lost(); int const r : all)
      if (r != 0) forget_loss(r);
  } else if (about != 0 && lost) {
    declare_lost(about);
  } else if (about != 0) {
    forget_loss(about);
  }
}

void peers::beat(double t) {
  auto& detector = wires_.detector();
  auto const& tree = detector.tree();
  int const self = wires_.rank();
  declare_failed();
  give_up_root();
  auto const v = detector.beat(t, wires_.lost());
  for (int const rank : v.silent) {
    // Heartbeats queue behind a large message that is still arriving. It may take as long as on a
    // slow network.
    constexpr double slow_bytes_per_second = 1e7;
    double const excuse = static_cast<double>(wires_.carrier().arriving(rank)) / slow_bytes_per_second;
    if (detector.silence(rank, t) <= detector.patience() + excuse) continue;
    if (self == 0 || rank == 0)
      declare_lost(rank);
    else
      tell(0, rank, true);
    if (rank == 0 && tree.is_leader(self))
      for (int r = self + 1; r < tree.block_end(self); ++r) send_view(r, 0);
  }
  if (v.doubt) tell(0, tree.leader_of(self), *v.doubt);
  for (int const rank : v.greet) wires_.send_heartbeat(rank);
}

}  // namespace skel::detail
