// One farm call with teams of several ranks, on one rank: drives the roles, and runs the tasks of its teams.
#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "call/collective_run.hpp"
#include "call/loopback.hpp"
#include "farm/role/team_ledger.hpp"
#include "farm/role/team_worker.hpp"
#include "setup.hpp"
#include "sink.hpp"
#include "stream.hpp"

namespace skel::detail {

class team_farm_run final : public collective_run {
 public:
  team_farm_run(context& ctx, farm_work& work, farm_policy policy, farm_options const& options);

  void on_lost(int rank) override;
  void on_tick(double t) override;
  void idle_work() override;
  [[nodiscard]] std::string state() const override;
  [[nodiscard]] farm_sink& sink() { return sink_; }

 private:
  struct own_message {
    role::team_message what;
    result_batch batch;
  };

  // --- the compute thread
  [[nodiscard]] bool find_work(unsigned thread) override;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void after_quantum(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void enter_team(role::team::run const& job);
  void abandon(int because_of, std::string const& text);
  void watch_task(double t);

  // --- source and sink
  struct wanted_sizes {
    std::vector<int> ranks;  // of each task
    std::optional<std::string> error;
  };
  [[nodiscard]] wanted_sizes sizes_of(task_id first, task_id last) const;
  void add_tasks(std::uint64_t available, bool ended, wanted_sizes const& sizes);
  void supply();
  void drain_sink();

  // --- roles and messages
  void begin(std::unique_lock<std::mutex>& lock) override;
  void receive(int from, std::span<std::byte const> body, transport::packet& whole) override;
  void deliver(int from, role::team_message const& m, result_batch batch);
  void perform(role::team_actions& list);
  void perform(role::team_action& action);
  void leave_out(role::team::leave_out task);
  void send_to(int to, role::team_message m);
  void deliver_own();
  void please_stop() override;
  void abort(std::string const& text) override;
  template <class... Parameters, class... Arguments>
  void tell_ledger(void (role::team_ledger::*event)(Parameters...), Arguments&&... arguments) {
    role::team_actions list;
    ((*ledger_).*event)(std::forward<Arguments>(arguments)..., list);
    perform(list);
  }

  // --- progress and report
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool last) const override;

  farm_work& work_;
  farm_setup setup_;
  role::team_worker worker_;
  std::optional<role::team_ledger> ledger_;  // on the root
  farm_sink sink_;                           // used on the root
  farm_stream stream_;
  loopback<own_message> to_self_;

  std::optional<role::team::run> todo_;
  role::job_id formed_ = 0;  // the team that team_ is
  std::optional<context> team_;
  bool entered_ = false;      // the running task uses team_
  transport::packet result_;  // of the job that has just ended, on its team's root
  double began_ = 0;          // when the running task began; 0: none runs
  double overran_ = 0;        // when it was found to run for too long; 0: it was not

  std::map<role::job_id, result_batch> kept_;           // on the root: results of teams that have not ended
  std::map<std::vector<int>, std::uint64_t> tasks_of_;  // on the root: number of tasks of each team
  std::vector<task_failure> left_out_;                  // on the root
  std::atomic<int> lost_ranks_{0};                      // for the progress line
  std::atomic<std::uint64_t> failed_tasks_{0};          // likewise
};

}  // namespace skel::detail
