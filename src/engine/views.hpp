// The views of a job: after the loss of its root, the other ranks go on as a job of their own, and spare
// ranks stand in for lost ones.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ended_processes.hpp"
#include "protocol/view_agreement.hpp"
#include "transport/transport.hpp"

namespace skel::detail {

/// The wires of one job, under all of its views. Every packet carries the number of its view: packets of an
/// older view are dropped, and answered with the decision that ended it; packets of a newer one wait until
/// this rank enters it. Ranks are those of the job.
///
/// Requires the lock of the engine that works in the present view.
class job_wires {
 public:
  /// `patience`: seconds of silence after which a rank counts as lost. Without `restarts`, the loss of the
  /// root ends the job. The other ranks hear from this one of the ends that `ended` finds elsewhere. The last
  /// `spares` ranks wait until they stand in for others.
  job_wires(std::unique_ptr<transport::transport> carrier, double patience, bool restarts,
            ended_processes ended = ended_processes(), int spares = 0);
  ~job_wires();

  /// How the job has ended, for ranks that still wait.
  struct ending {
    int code = 0;
    bool abrupt = false;  ///< without MPI_Finalize
    bool silent = false;  ///< no rank has said so
  };
  /// On a spare rank: waits until it stands in for another one. Returns how the job has ended if it did
  /// first; a job that is silent has ended.
  [[nodiscard]] std::optional<ending> wait_until_needed();
  /// The job ends on this member: those that wait hear of it.
  void release_spares(ending how);

  [[nodiscard]] transport::transport& carrier() { return *carrier_; }
  [[nodiscard]] bool restarts() const { return restarts_; }
  /// The view in which this rank works.
  [[nodiscard]] role::view const& now() const { return entered_; }
  /// Whether a next one was decided.
  [[nodiscard]] bool over() const { return lags() || agreement_.decided(); }
  /// Once it is: enters the latest view that was decided. Returns whether this rank is a member of it.
  bool enter_next();

  void send(int to, transport::packet&& what);
  [[nodiscard]] std::optional<transport::transport::arrival> receive();
  void send_note(int to, transport::packet const& what);
  void send_note_to_all(transport::packet const& what);
  [[nodiscard]] std::vector<transport::transport::arrival> take_notes() { return std::exchange(notes_, {}); }
  transport::transport::news look(double t);
  void lost(int rank, bool is_lost);
  /// Ranks that are known to have ended, not by their silence; those returned before are left out.
  [[nodiscard]] std::vector<int> failed();
  [[nodiscard]] ended_processes const& ended() const { return ended_; }
  /// Whether the ranks that are left may go on without the root: they can agree, and soon.
  [[nodiscard]] bool outlives_root() const;
  /// On the root: seeks a view in which spare ranks stand in for lost ones.
  void renew();
  [[nodiscard]] bool renews() const { return agreement_.renews(); }
  [[nodiscard]] int spares() const { return spares_; }

 private:
  void do_due(double t);
  [[nodiscard]] std::optional<transport::transport::arrival> take_ready();
  /// Whether this rank has yet to enter the latest view, because it is inside a task. It takes part in the
  /// agreement on the view after that all the same.
  [[nodiscard]] bool lags() const { return agreement_.current().number != entered_.number; }
  void follow_decision();
  [[nodiscard]] role::view_agreement agreement_on(role::view const& v) const;
  /// Whether ranks are missing, and spare ones were heard lately.
  [[nodiscard]] bool may_renew(double t) const;
  void ask_member(double t);
  void watch_next_root(double t);
  /// Whether the engine is to have this packet, from which the view's number is taken.
  [[nodiscard]] bool takes(transport::transport::arrival& a);
  /// Returns whether the rank is to enter this view, and lives.
  [[nodiscard]] bool on_control(int from, transport::packet const& what);
  void on_waiting(int from, std::uint64_t view);
  void tell_alive();
  void perform(role::view_messages const& list);
  void send_about(std::uint32_t view, int to, role::views::message const& m);
  void tell_past(int to, std::uint32_t of);
  void tell_ends(std::span<int const> ranks);
  void note_ends();

  std::unique_ptr<transport::transport> carrier_;
  ended_processes ended_;
  double patience_;
  bool restarts_;
  int spares_;
  role::view_agreement agreement_;  // on what follows the latest view
  role::view entered_;
  std::deque<transport::transport::arrival> early_;  // of newer views
  std::deque<transport::transport::arrival> ready_;  // of this view, which came early
  std::vector<role::view> past_;                     // the views that followed each ended one
  std::vector<transport::transport::arrival> notes_;
  double last_tick_, last_look_;
  double next_root_heard_ = 0;                        // while this rank lags
  std::optional<double> root_lost_, minority_since_;  // since then
  // On a member: when it last heard a spare rank, and when it may seek a new view again.
  double spare_heard_ = -std::numeric_limits<double>::infinity(), renews_from_ = 0;
  // On a spare rank: the member that it asks next, and when one has answered last.
  std::size_t asks_ = 0;
  double answered_ = 0;
  std::optional<ending> ended_as_;
};

/// The present view as a transport of its own: rank i is the i-th member.
class view_transport final : public transport::transport {
 public:
  explicit view_transport(std::shared_ptr<job_wires> job);

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(members_.size()); }
  void send(int to, skel::transport::packet what) override { job_->send(in_job(to), std::move(what)); }
  [[nodiscard]] std::optional<arrival> receive() override;
  [[nodiscard]] std::size_t unsent(int to) const override { return job_->carrier().unsent(in_job(to)); }
  [[nodiscard]] std::size_t arriving(int from) const override {
    return job_->carrier().arriving(in_job(from));
  }
  [[nodiscard]] bool any_arriving() const override { return job_->carrier().any_arriving(); }
  [[nodiscard]] std::vector<int> failed() override;
  news look(double now) override { return job_->look(now); }
  void send_note(int to, skel::transport::packet const& what) override { job_->send_note(in_job(to), what); }
  void send_note_to_all(skel::transport::packet const& what) override { job_->send_note_to_all(what); }
  [[nodiscard]] std::vector<arrival> take_notes() override;
  [[nodiscard]] bool any_thread() const override { return job_->carrier().any_thread(); }
  [[nodiscard]] bool any_time() const override { return job_->carrier().any_time(); }
  [[nodiscard]] double now() const override { return job_->carrier().now(); }
  [[nodiscard]] bool owns_time() const override { return job_->carrier().owns_time(); }
  void wait(double seconds) override { below().wait(seconds); }
  [[nodiscard]] std::optional<double> power() const override { return job_->carrier().power(); }
  [[nodiscard]] skel::transport::transport& below() override { return job_->carrier(); }
  [[nodiscard]] std::shared_ptr<void>& kept() override { return job_->carrier().kept(); }
  /// A rank that does not exist stays so: the carrier reports it.
  [[nodiscard]] int in_job(int rank) const override {
    return rank >= 0 && rank < size() ? members_[static_cast<std::size_t>(rank)] : rank;
  }
  void abandon() override { job_->carrier().abandon(); }
  void set_lost(int rank, bool lost) override { job_->lost(in_job(rank), lost); }
  [[nodiscard]] bool has_ended(int rank_in_job) const override { return job_->ended().contains(rank_in_job); }
  [[nodiscard]] bool has_ended_elsewhere(int rank_in_job) const override {
    return job_->ended().is_elsewhere(rank_in_job);
  }
  [[nodiscard]] bool outlives_root() const override { return job_->outlives_root(); }
  void renew() override { job_->renew(); }
  [[nodiscard]] bool renews() const override { return job_->renews(); }
  [[nodiscard]] int spares() const override { return job_->spares(); }

 private:
  [[nodiscard]] int here(int in_job) const;

  std::shared_ptr<job_wires> job_;
  std::vector<int> members_;
  bool whole_;  // all ranks of the job are members
  int rank_;
};

}  // namespace skel::detail
