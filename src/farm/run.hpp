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
#include "tasks/unsent.hpp"

namespace skel::detail {

class farm_run;

struct farm_protocol {
  using run = farm_run;
  using message = role::farm_message;
  using action = role::farm_action;
  using send = role::farm::send;
  using leave_out = role::farm::leave_out;
  using member = role::farm_member;
  using root_role = role::farm_root;
  using cargo = result_batch;
};

class farm_run final : public farm_call<farm_protocol> {
 public:
  farm_run(context& ctx, farm_work& work, farm_policy policy, farm_options const& options);

  /// After the run: warns of a task whose result depends on the rank.
  void check_ranks(report const& r);

 private:
  friend class protocol_run<farm_protocol>;
  friend class farm_call<farm_protocol>;
  // Padded so that threads do not share cache lines.
  struct alignas(128) thread_state {
    task_pace pace;
    std::optional<task_range> todo;
    std::vector<task_payload> payloads;  // of todo
    std::atomic<task_id> running{0};     // with a time limit of tasks
    std::atomic<double> since{0};        // when it began; 0: none runs
  };
  // --- compute threads
  [[nodiscard]] bool find_work(unsigned thread) override;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void after_quantum(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  [[nodiscard]] result_batch empty_batch();
  void watch_tasks(double t);
  void end_for(task_id id);
  void run_slices(unsigned thread, task_range const& range, std::uint64_t& at, result_batch& batch);
  struct thrown {
    std::string text;
    bool of_task = true;  // false: the user's merge threw
  };
  /// Passes an event of a compute thread to the member, which may answer with work for this thread.
  template <class Event, class... Arguments>
  void tell_member(thread_state& t, Event event, Arguments&&... arguments) {
    asking_ = &t;
    tell(member_, event, std::forward<Arguments>(arguments)...);
  }
  void hand_in(thread_state& t, task_range const& range, std::uint64_t done, result_batch batch,
               std::optional<thrown> error);

  // --- source and sink
  void add_tasks(farm_stream::supply const& got) {
    tell(*root_role_, &root_role::supplied, got.available, got.ended);
  }
  void before_sink();
  void after_sink() { weigh_help(); }
  void count() { roll_->count(root_role_->book().tasks.sunk(), root_role_->book().again); }
  void weigh_help();

  // --- roles and messages
  void begin(std::unique_lock<std::mutex>& lock) override;
  [[nodiscard]] bool sends(int to, message const& m) const;
  void send_to_self(message& m);
  [[nodiscard]] transport::packet pack(int to, message& m);
  [[nodiscard]] result_batch unpack(int from, message& m, std::span<std::byte const> body,
                                    transport::packet& whole);
  void route(int from, message const& m, result_batch& batch, actions& out);
  void answered(int from, message const& m, result_batch& batch);
  void received(int from);
  using farm_call::act;
  void act(role::farm::execute const& a, result_batch* batch);
  void act(role::farm::record const& a, result_batch* /*batch*/) { append(accepted_, a.range); }
  void act(role::farm::accept const& a, result_batch* batch);
  void act(role::farm::release const& a, result_batch* batch);
  void act(role::farm::discard const& a, result_batch* batch);
  void act(role::farm::forget const& a, result_batch* batch);
  void drained(bool early);
  void performed() {
    if (accepted_.empty()) sink_released();  // otherwise once they are held: answered()
  }
  void sink_released();

  // --- report
  using farm_call::describe;
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool last) const override;
  [[nodiscard]] audit_report audited() const;
  [[nodiscard]] std::string name() const { return to_string(setup_.policy); }
  [[nodiscard]] std::string member_state() const;
  [[nodiscard]] std::string root_state() const;

  bool keeps_local_;  // results stay objects on this rank
  bool in_place_;     // or are computed in their final place
  unsent_results unsent_;
  range_list accepted_;                     // tasks of the current message that the root accepted
  int sender_ = 0;                          // of the current message
  std::optional<audit_book> audits_;        // on the root, with audits
  std::optional<rank_check> rank_check_;    // on the root of a program with assertions
  std::atomic<std::uint64_t> recorded_{0};  // with audits: for the progress line
  std::vector<thread_state> state_;
  thread_state* asking_ = nullptr;  // the thread for which the member is asked for work
  bool must_end_ = false;           // a task runs over its time limit

  bool ran_ = false;                                 // the sender of the current message, when it came
  unsigned received_ = 0;                            // messages
  std::unordered_map<int, std::uint64_t> finished_;  // at the last stock-taking: shows who makes progress
};

}  // namespace skel::detail
