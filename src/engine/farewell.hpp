// How the ranks of run_main leave together.
#pragma once

#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "call_table.hpp"
#include "disks/disk_service.hpp"

namespace skel::detail {

/// How a rank leaves run_main.
struct departure {
  int code = 0;
  bool own = false;  // failed by itself, not because another rank failed
  std::string text{};
  bool lost = false;  // a rank was lost or left on its own, so MPI_Finalize, which waits for all ranks, must
                      // be skipped
  bool returned = false;  // the body returned the code: nothing failed, and the other ranks continue
  bool by_loss = false;   // a rank that was lost is the reason
  [[nodiscard]] bool failed() const { return code != 0 && !returned; }
};

/// Thrown from a skeleton call if another rank has failed outside of it and the job is ending.
struct peer_failed : std::exception {
  [[nodiscard]] char const* what() const noexcept override { return "another rank has failed"; }
};

/// Thrown from a skeleton call if the ranks go on without the root, or without this rank.
struct view_over : std::exception {
  [[nodiscard]] char const* what() const noexcept override { return "the ranks go on without the root"; }
};

/// The end of the job: each rank reports how it ended, and rank 0 decides which failure is printed. Ends this
/// process if the job has ended without it. Requires the engine's lock; engine::say_farewell has the loop.
class farewell {
 public:
  farewell(call_table& calls, wires& w, disk_service& disks) : calls_(calls), wires_(w), disks_(disks) {}

  /// Set by run_main; otherwise empty.
  std::string program;

  /// This rank leaves.
  void begin(departure const& own);
  [[nodiscard]] bool begun() const { return begun_; }
  /// Whether reports or the verdict are still missing, and may come.
  [[nodiscard]] bool waits();
  /// On the root: a call that this rank does not make would wait for it forever, so it fails.
  void refuse_early_calls();
  /// After waiting. Returns whether this rank has heard the verdict, or decided it; otherwise its own
  /// applies.
  bool conclude(departure const& own);
  /// Then the others may end, and the launcher may end this rank.
  void announce();
  [[nodiscard]] bool has_verdict() const { return verdict_.has_value(); }
  [[nodiscard]] departure const& verdict() const { return *verdict_; }
  /// The ranks have agreed to skip MPI_Finalize.
  [[nodiscard]] bool leaves_abruptly() const { return verdict_ && verdict_->lost; }
  /// Whether losses of ranks are why the job failed.
  [[nodiscard]] bool ended_by_loss() const { return verdict_ && verdict_->by_loss; }

  void tell_failure(departure const& own);
  /// On the root: the other ranks end, also those inside a task that does not return.
  void tell_end();
  void on_control(int from, std::span<std::byte const> body);
  /// Tells a call that begins which ranks have left.
  void tell_left(run& r) const;
  [[nodiscard]] bool peer_has_failed() const { return peer_failed_; }
  void throw_if_peer_failed() const {
    if (view_over_) throw view_over();
    if (peer_failed_) throw peer_failed();
  }
  /// The ranks go on without the root: calls in progress and later ones throw view_over.
  void end_view();
  [[nodiscard]] bool view_ended() const { return view_over_; }
  /// In run_main this rank ends too, unless the program hears of the loss before.
  void on_root_lost();
  /// This root has not heard most ranks for `seconds`: it ends after a while.
  void end_if_left(double seconds) const;
  /// The program has heard of the loss of the root, or the root was heard from again.
  void forget_root_lost() {
    if (ends_by_loss_) ends_at_ = std::numeric_limits<double>::infinity();
  }
  /// Ends this process if it is time.
  void end_if_due(double t) const;

 private:
  void send(int to, std::uint8_t kind, departure const& d);
  void pass_on_verdict();
  /// On the root: the number of living ranks that have not reported.
  [[nodiscard]] int missing() const;
  [[nodiscard]] bool given_up();

  call_table& calls_;
  wires& wires_;
  disk_service& disks_;
  bool begun_ = false;
  double begun_at_ = 0;
  std::map<int, departure> departures_;  // on rank 0
  std::optional<departure> verdict_;
  bool peer_failed_ = false;
  bool view_over_ = false;
  std::optional<double> failed_since_;  // of the job, once this rank leaves
  // The job has ended or will fail, but this rank may be inside a task that does not return.
  double ends_at_ = std::numeric_limits<double>::infinity();
  bool ends_by_loss_ = false;  // of the root
};

}  // namespace skel::detail
