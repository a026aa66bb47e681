// One farm call on one rank: drives the roles, and lets compute threads run tasks.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "call/collective_run.hpp"
#include "call/loopback.hpp"
#include "farm/role/ledger.hpp"
#include "farm/role/worker.hpp"
#include "pace.hpp"
#include "setup.hpp"
#include "sink.hpp"
#include "stream.hpp"
#include "unsent.hpp"

namespace skel::detail {

class farm_run final : public collective_run {
 public:
  farm_run(context& ctx, farm_work& work, farm_policy policy, farm_options const& options);

  void on_lost(int rank) override;
  void on_tick(double t) override;
  void idle_work() override { drain_sink(); }
  [[nodiscard]] std::string state() const override;
  [[nodiscard]] farm_sink& sink() { return sink_; }

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
  struct own_message {
    role::farm_message what;
    result_batch batch;
  };

  // --- compute threads
  [[nodiscard]] bool find_work(unsigned thread) override;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void after_quantum(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void after_work();
  [[nodiscard]] result_batch empty_batch();
  void watch_tasks(double t);
  void end_for(task_id id);
  void run_slices(unsigned thread, task_range const& range, std::uint64_t& at, result_batch& batch);
  struct thrown {
    std::string text;
    bool of_task = true;  // false: the user's merge threw
  };
  void hand_in(thread_state& t, task_range const& range, std::uint64_t done, result_batch batch,
               std::optional<thrown> error);

  // --- source and sink
  void supply();
  void drain_sink();
  void weigh_help();

  // --- roles and messages
  void begin(std::unique_lock<std::mutex>& lock) override;
  void receive(int from, std::span<std::byte const> body, transport::packet& whole) override;
  void deliver(int from, role::farm_message const& m, result_batch batch);
  void perform(role::farm_actions& list, thread_state* thread = nullptr);
  void perform(role::farm_action& action, thread_state* thread);
  void leave_out(role::farm::leave_out task);
  void send_to(int to, role::farm_message m);
  void send_to_self(role::farm_message m);
  void deliver_own();
  void please_stop() override;
  void abort(std::string const& text) override;
  /// Delivers an event to the ledger, e.g. `tell_ledger(&role::farm_ledger::lost, rank)`, and performs its
  /// actions.
  template <class... Parameters, class... Arguments>
  void tell_ledger(void (role::farm_ledger::*event)(Parameters...), Arguments&&... arguments) {
    role::farm_actions list;
    ledger_->at(now());
    ((*ledger_).*event)(std::forward<Arguments>(arguments)..., list);
    perform(list);
  }

  // --- progress and report
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool last) const override;

  farm_work& work_;
  farm_setup setup_;
  bool keeps_local_;  // results stay objects on this rank
  bool in_place_;     // or are computed in their final place
  role::farm_worker worker_;
  std::optional<role::farm_ledger> ledger_;  // on the root
  farm_sink sink_;                           // used on the root
  farm_stream stream_;
  unsent_results unsent_;
  loopback<own_message> to_self_;
  range_list accepted_;  // tasks of the current message that the ledger accepted
  std::vector<thread_state> state_;
  std::vector<task_failure> left_out_;  // on the root
  bool must_end_ = false;               // a task runs over its time limit

  std::size_t not_stopped_ = 0;                      // ranks that have not said `stopped`, for the watchdog
  std::unordered_set<int> heard_;                    // ranks that have taken part in this run so far
  unsigned received_ = 0;                            // messages
  std::unordered_map<int, std::uint64_t> finished_;  // at the last stock-taking: shows who makes progress
  std::atomic<int> lost_ranks_{0};                   // for the progress line
  std::atomic<std::uint64_t> failed_tasks_{0};       // likewise
};

}  // namespace skel::detail
