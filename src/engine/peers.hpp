// The ranks that live, in the view of this rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "retirement.hpp"
#include "skel/report.hpp"

namespace skel::detail {

/// Declares silent ranks lost until they are heard from again, and exchanges opinions about them. The root
/// decides which ranks are lost. This is the only place that changes the set of living ranks, so an agreement
/// on that set, and its number, belong here. Requires the engine's lock.
class peers {
 public:
  peers(wires& w, disk_service& disks, call_table& calls, farewell& end, retirement& leaving)
      : wires_(w), disks_(disks), calls_(calls), farewell_(end), retirement_(leaving) {}

  /// Called when the detector is due: sends heartbeats to ranks without a recent message, and finds silent
  /// ranks.
  void beat(double t);
  /// Declares the rank dead until it is heard from again. The root notifies the others.
  void declare_lost(int rank, loss_notice how = loss_notice::silence);
  /// How the transport knows that a rank is dead.
  [[nodiscard]] loss_notice notice_of(int rank_in_job) const;
  /// The same for those that the transport knows to be dead.
  void declare_failed();
  /// A lost rank has sent a message: it is alive.
  void found(int rank);
  /// Whether the lost rank is known to have been killed from outside: no task is to blame.
  [[nodiscard]] bool is_lost_from_outside(int rank) const { return lost_outside_.contains(rank); }
  /// Those that are lost, in the order of their ranks in the job.
  [[nodiscard]] std::vector<rank_loss> losses() const;
  /// On the root: lets spare ranks stand in for lost ones, if the body, begun again, repeats little.
  /// Returns whether they are about to.
  bool renew();
  /// This rank, if it leaves on purpose.
  [[nodiscard]] retirement& leaving() { return retirement_; }
  /// Another rank's opinion.
  void on_control(int from, std::span<std::byte const> body);

 private:
  void tell(int to, int about, std::optional<loss_notice> lost);
  void send_view(int to, int about);
  void announce(int rank);
  void forget_loss(int rank);
  void give_up_root();

  wires& wires_;
  disk_service& disks_;
  call_table& calls_;
  farewell& farewell_;
  retirement& retirement_;
  std::set<int> lost_outside_;
  std::map<int, rank_loss> losses_;
  bool root_given_up_ = false;
};

}  // namespace skel::detail
