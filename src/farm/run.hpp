// One farm call on one rank: drives the roles, and lets compute threads run tasks.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "audit_book.hpp"
#include "call.hpp"
#include "call/pace.hpp"
#include "farm/role/member.hpp"
#include "farm/role/root.hpp"
#include "rank_check.hpp"
#include "unsent.hpp"

namespace skel::detail {

struct farm_roles {
  using root_role = role::farm_root;
  using member = role::farm_member;
  using message = role::farm_message;
  using action = role::farm_action;
  using actions = role::farm_actions;
  using send = role::farm::send;
  using leave_out = role::farm::leave_out;
  [[nodiscard]] static std::string name(farm_setup const& of) { return to_string(of.policy); }
};

class farm_run final : public farm_call<farm_roles> {
 public:
  farm_run(context& ctx, farm_work& work, farm_policy policy, farm_options const& options);

  void idle_work() override { drain_sink(); }
  /// After the run: warns of a task whose result depends on the rank.
  void check_ranks(report const& r);

 private:
  // Padded so that threads do not share cache lines.
  struct alignas(128) thread_state {
    task_pace pace;
    std::optional<task_range> todo;
    std::vector<task_payload> payloads;  // of todo
    std::atomic<task_id> running{0};     // with a time limit of tasks
    std::atomic<double> since{0};        // when it began; 0: none runs
    role::farm_actions wanted;           // the role's answer to a request for work; kept for its memory
  };
  // --- compute threads
  [[nodiscard]] bool find_work(unsigned thread) override;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void after_quantum(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  [[nodiscard]] result_batch empty_batch();
  void watch_tasks(double t) override;
  void end_for(task_id id);
  void run_slices(unsigned thread, task_range const& range, std::uint64_t& at, result_batch& batch);
  struct thrown {
    std::string text;
    bool of_task = true;  // false: the user's merge threw
  };
  void hand_in(thread_state& t, task_range const& range, std::uint64_t done, result_batch batch,
               std::optional<thrown> error);

  // --- source and sink
  void add_tasks(farm_stream::supply const& got) override {
    tell_root_role(&role::farm_root::supplied, got.available, got.ended);
  }
  void before_sink() override;
  void after_sink() override { weigh_help(); }
  void weigh_help();

  // --- roles and messages
  void begin(std::unique_lock<std::mutex>& lock) override;
  void receive(int from, std::span<std::byte const> body, transport::packet& whole) override;
  void deliver(int from, role::farm_message const& m, result_batch batch) override;
  void perform(role::farm_actions& list) override { perform(list, nullptr); }
  void perform(role::farm_actions& list, thread_state* thread);
  void perform(role::farm_action& action, thread_state* thread);
  void sink_released();
  void send_to(int to, role::farm_message m) override;
  void send_to_self(role::farm_message m);

  // --- report
  using farm_call::describe;
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool last) const override;
  [[nodiscard]] audit_report audited() const;
  [[nodiscard]] std::string member_state() const override;
  [[nodiscard]] std::string root_state() const override;

  bool keeps_local_;  // results stay objects on this rank
  bool in_place_;     // or are computed in their final place
  unsent_results unsent_;
  range_list accepted_;                     // tasks of the current message that the root accepted
  int sender_ = 0;                          // of the current message
  std::optional<audit_book> audits_;        // on the root, with audits
  std::optional<rank_check> rank_check_;    // on the root of a program with assertions
  std::atomic<std::uint64_t> recorded_{0};  // with audits: for the progress line
  std::vector<thread_state> state_;
  bool must_end_ = false;  // a task runs over its time limit

  unsigned received_ = 0;                            // messages
  std::unordered_map<int, std::uint64_t> finished_;  // at the last stock-taking: shows who makes progress
};

}  // namespace skel::detail
