// One farm call on one rank: drives the roles, and lets compute threads run tasks.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "call.hpp"
#include "farm/role/member.hpp"
#include "farm/role/root.hpp"
#include "root_results.hpp"
#include "tasks/unsent.hpp"
#include "threads.hpp"

namespace skel::detail {

class farm_run;

struct farm_protocol {
  using run = farm_run;
  using message = role::farm_message;
  using action = role::farm_action;
  using send = role::farm::send;
  using member = role::farm_member;
  using root_role = role::farm_root;
  using cargo = result_batch;
};

class farm_run final : public farm_call<farm_protocol> {
 public:
  /// `rooms`: of all ranks, if the needs of tasks are known.
  farm_run(context& ctx, farm_work& work, farm_policy policy, farm_options const& options,
           std::vector<role::task_room> rooms);
  ~farm_run() override;

  /// After the run: results of an earlier attempt count as restored. Warns of a task whose result depends on
  /// the rank.
  void finish(report& r);
  /// In a farm over all ranks.
  bool vacate(bool leaves) override;
  [[nodiscard]] double kept() override;

 private:
  friend class protocol_run<farm_protocol>;
  friend class farm_call<farm_protocol>;
  // --- compute threads
  [[nodiscard]] bool find_work(unsigned thread) override;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void watch_tasks(double t);
  void excuse(double seconds) { threads_at_work_.excuse(seconds); }
  [[nodiscard]] bool paused() const { return root_role_->book().paused; }
  void end_for(task_id id);
  /// Passes an event of a compute thread to the member, which may answer with work for this thread.
  template <class Event, class... Arguments>
  void tell_member(unsigned thread, Event event, Arguments&&... arguments) {
    asking_ = thread;
    tell(member_, event, std::forward<Arguments>(arguments)...);
  }
  void hand_in(unsigned thread, farm_threads::quantum q);
  void make_room();
  void hold_up(unsigned thread, task_id id, farm_threads::quantum& q);

  // --- source and sink
  void add_tasks(farm_stream::supply const& got) {
    tell(*root_role_, &root_role::supplied, got.available, got.ended);
  }
  void before_sink();
  void after_sink();
  void count() {
    roll_->count(wanted_results(root_role_->book().tasks.sunk()), root_role_->book().counts.again);
  }

  // --- roles and messages
  void begin(std::unique_lock<std::mutex>& lock) override;
  void remember(range_list const& ranges, std::span<std::byte const> packed);
  void keep(range_list const& ranges, std::span<std::byte const> packed);
  [[nodiscard]] int successor() const;
  void tell_successor();
  void send_to_self(message& m);
  [[nodiscard]] transport::packet pack(int to, message& m);
  [[nodiscard]] result_batch unpack(int from, message& m, std::span<std::byte const> body,
                                    transport::packet& whole);
  void route(int from, message const& m, result_batch& batch, actions& out);
  using farm_call::act;
  void act(role::tell_root& a, result_batch* batch);
  void act(role::farm::execute const& a, result_batch* batch);
  template <class A>
    requires requires(root_results& r, A const& a) { r.on(a); }
  void act(A const& a, result_batch* /*batch*/) {
    results_.on(a);
  }
  void act(role::farm::forget const& a, result_batch* batch);
  void drained(bool early);
  void performed(result_batch* batch) {
    if (batch != nullptr) results_.arrived(std::move(*batch));
    if (results_.audits()) results_.decided(root_role_->tasks().recorded().count());
  }

  // --- report
  using farm_call::describe;
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool last) const override;
  [[nodiscard]] std::string name() const { return to_string(setup_.policy); }
  [[nodiscard]] role_states states() const;

  bool keeps_all_;  // the root has what lost ranks have computed, for the next attempt, with spare ranks
  bool in_place_;   // results are computed in their final place
  unsent_results unsent_;
  root_results results_;
  std::optional<rank_check> rank_check_;  // on the root of a program with assertions
  farm_threads threads_at_work_;
  unsigned asking_ = 0;  // the thread for which the member is asked for work
  bool recalling_ = false;
  bool must_end_ = false;  // a task runs over its time limit

  unsigned received_ = 0;                            // messages
  std::unordered_map<int, std::uint64_t> finished_;  // at the last stock-taking: shows who makes progress
};

}  // namespace skel::detail
