// One farm call with teams of several ranks, on one rank: drives the roles, and runs the tasks of its teams.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "farm/call.hpp"
#include "team_farm/role/member.hpp"
#include "team_farm/role/root.hpp"

namespace skel::detail {

class team_farm_run;

struct team_protocol {
  using run = team_farm_run;
  using message = role::team_message;
  using action = role::team_action;
  using send = role::team::send;
  using member = role::team_member;
  using root_role = role::team_root;
  using cargo = result_batch;
};

class team_farm_run final : public farm_call<team_protocol> {
 public:
  /// `hosts`: as in team_root_config.
  team_farm_run(context& ctx, farm_work& work, farm_policy policy, farm_options const& options,
                std::vector<std::uint64_t> hosts);
  /// In a farm over all ranks.
  bool vacate(bool leaves) override;
  /// What its checkpoints have.
  [[nodiscard]] double kept() override;

 private:
  friend class protocol_run<team_protocol>;
  friend class farm_call<team_protocol>;
  // --- the compute thread
  [[nodiscard]] bool find_work(unsigned thread) override;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void enter_team(role::team::run const& job);
  void abandon(int because_of, std::string const& text);
  void watch_tasks(double t);
  void excuse(double seconds);
  [[nodiscard]] bool paused() const { return root_role_->paused(); }
  bool await_cancel(std::unique_lock<std::mutex>& lock);

  // --- source and sink
  struct wanted_sizes {
    std::vector<int> ranks;     // of each task
    std::vector<double> costs;  // likewise; empty: unknown
    std::optional<std::string> error;
  };
  [[nodiscard]] wanted_sizes sizes_of(task_id first, task_id last) const;
  void add_tasks(std::uint64_t available, bool ended, wanted_sizes const& sizes);
  void before_sink() {}
  void after_sink() {}
  void count() { roll_->count(wanted_results(root_role_->tasks().sunk()), root_role_->handed_out_again()); }
  void add_tasks(farm_stream::supply const& got) {
    add_tasks(got.available, got.ended, sizes_of(root_role_->tasks().available(), got.available));
  }

  // --- roles and messages
  void begin(std::unique_lock<std::mutex>& lock) override;
  void send_to_self(message& m);
  [[nodiscard]] transport::packet pack(int to, message& m);
  [[nodiscard]] result_batch unpack(int from, message& m, std::span<std::byte const> body,
                                    transport::packet& whole);
  void route(int from, message const& m, result_batch& batch, actions& out);
  using farm_call::act;
  void act(role::team::begin& a, result_batch* batch);
  void act(role::team::abandon const& a, result_batch* /*batch*/) { abandon(a.because_of, a.text); }
  void act(role::team::accept const& a, result_batch* batch);
  void act(role::team::drop const& a, result_batch* /*batch*/) { kept_.erase(a.job); }
  void act(role::team::forget const& a, result_batch* /*batch*/) { stream_.forget({a.task, 1, 1}); }

  // --- report
  using farm_call::describe;
  void describe(report& r) const override;
  [[nodiscard]] std::string name() const { return "teams"; }
  [[nodiscard]] role_states states() const;

  std::optional<role::team::run> todo_;
  role::job_id formed_ = 0;  // the team that team_ is
  std::optional<context> team_;
  bool entered_ = false;      // the running task uses team_
  transport::packet result_;  // of the job that has just ended, on its team's root
  double began_ = 0;          // when the running task began; 0: none runs
  double overran_ = 0;        // when it was found to run for too long; 0: it was not

  std::map<role::job_id, result_batch> kept_;           // on the root: results of teams that have not ended
  std::map<std::vector<int>, std::uint64_t> tasks_of_;  // on the root: number of tasks of each team
};

}  // namespace skel::detail
