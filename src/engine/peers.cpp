#include "peers.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "process_end.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

void peers::declare_lost(int rank, loss_notice how) {
  if (rank == wires_.rank() || !wires_.set_lost(rank, true)) return;
  bool const left = retirement_.announced_by(rank);
  if (left) how = loss_notice::retired;
  losses_[rank] = {.rank = wires_.carrier().in_job(rank),
                   .was_root = rank == 0,
                   .noticed = how,
                   .silent_seconds = wires_.detector().silence_if_watched(rank, wires_.now()).value_or(0)};
  disks_.set_lost(rank, true);
  if (left ||
      (!farewell_.program.empty() && how_ended(wires_.carrier().in_job(rank)) == process_end::from_outside))
    lost_outside_.insert(rank);
  announce(rank);
  renew();
  if (!wires_.ends_calls(rank)) return;
  for (auto const& [key, running] : calls_.runs()) running->on_rank_lost(rank);
  give_up_root();
}

void peers::declare_failed() {
  auto& carrier = wires_.carrier();
  for (int const rank : carrier.failed()) declare_lost(rank, notice_of(carrier.in_job(rank)));
}

bool peers::renew() {
  constexpr double share = 0.05, at_least = 1;  // of the time so far; seconds
  auto& carrier = wires_.carrier();
  auto const* const memory = retirement_.memory;
  double const t = wires_.now();
  if (wires_.rank() != 0 || memory == nullptr || farewell_.begun() || !carrier.look(t).may_renew)
    return carrier.renews();
  double repeated = memory->repeated_seconds(t);
  for (auto const& [key, running] : calls_.runs()) repeated -= running->kept();
  if (repeated <= std::max(at_least, share * (t - memory->began()))) carrier.renew();
  return carrier.renews();
}

loss_notice peers::notice_of(int rank_in_job) const {
  auto const& carrier = wires_.carrier();
  if (carrier.has_ended_elsewhere(rank_in_job)) return loss_notice::connection;
  return carrier.has_ended(rank_in_job) ? loss_notice::ended : loss_notice::mpi;
}

std::vector<rank_loss> peers::losses() const {
  std::vector<rank_loss> all;
  all.reserve(losses_.size());
  for (auto const& [rank, loss] : losses_) all.push_back(loss);
  return all;
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
    tell(0, rank, std::nullopt);
  }
}

void peers::forget_loss(int rank) {
  wires_.set_lost(rank, false);
  losses_.erase(rank);
  lost_outside_.erase(rank);
  disks_.set_lost(rank, false);
  if (wires_.may_call()) wires_.send_anyway(rank);  // what waits for it, which nothing else may release
}

// The root sends its view of a rank to the living ranks.
void peers::announce(int rank) {
  if (wires_.rank() != 0 || rank == 0) return;
  for (int r = 1; r < wires_.size(); ++r)
    if (r != rank && !wires_.is_lost(r)) send_view(r, rank);
}

void peers::send_view(int to, int about) {
  auto const lost = losses_.find(about);
  tell(to, about, lost != losses_.end() ? std::optional(lost->second.noticed) : std::nullopt);
}

void peers::tell(int to, int about, std::optional<loss_notice> lost) {
  transport::packet p;
  bytes::put_varint(p.body(), lost ? 1 + static_cast<unsigned>(*lost) : 0);
  bytes::put_varint(p.body(), static_cast<std::uint64_t>(about));
  calls_.send(to, key_of(part::peers), std::move(p));
}

// Leaders report to the root. Other ranks ask it when they hear a lost rank, which may be dead: its message
// may be late. A rank that was thought lost learns that it was found, and then which ranks are lost.
void peers::on_control(int from, std::span<std::byte const> body) {
  auto const said = bytes::get_varint(body);
  bool const lost = said != 0;
  auto const how = static_cast<loss_notice>(lost ? said - 1 : 0);
  if (said > 1 + static_cast<unsigned>(loss_notice::retired))
    throw protocol_error("unknown loss from rank " + std::to_string(from));
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
      if (!detector.has_adopted(about)) declare_lost(about, how);
    } else if (wires_.is_lost(about)) {
      found(about);
    }
  } else if (from != 0) {
    if (about == 0 && lost && from == tree.leader_of(self)) detector.doubt_root();
  } else if (about == self) {
    for (auto const all = wires_.lost(); int const r : all)
      if (r != 0) forget_loss(r);
  } else if (about != 0 && lost) {
    declare_lost(about, how);
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
      tell(0, rank, loss_notice::silence);
    if (rank == 0 && tree.is_leader(self))
      for (int r = self + 1; r < tree.block_end(self); ++r) send_view(r, 0);
  }
  if (v.doubt) tell(0, tree.leader_of(self), *v.doubt ? std::optional(loss_notice::silence) : std::nullopt);
  for (int const rank : v.greet) wires_.send_heartbeat(rank);
}

}  // namespace skel::detail
