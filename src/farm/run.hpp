// One farm call on one rank: drives the roles, runs tasks, carries results to the sink.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "call/collective_run.hpp"
#include "call/loopback.hpp"
#include "farm/role/ledger.hpp"
#include "farm/role/worker.hpp"
#include "help.hpp"
#include "recorder.hpp"
#include "sink_stage.hpp"
#include "skel/detail/farm_work.hpp"
#include "skel/farm.hpp"

namespace skel::detail {

class farm_run final : public collective_run {
 public:
  farm_run(context& ctx, farm_work& work, farm_policy policy, farm_options const& options);
  ~farm_run() override;

  void on_lost(int rank) override;
  void on_tick(double t) override;
  void idle_work() override { drain_sink(); }
  [[nodiscard]] std::string state() const override;
  /// After execute(), however it has ended: what the sink has had is saved, where that was asked for.
  void save_last();
  [[nodiscard]] std::optional<checkpoint_report> checkpoint_costs() const;

 private:
  // What one compute thread does; padded so that threads do not share lines.
  struct alignas(128) thread_state {
    double cost = 0;          // seconds per task, of the latest quantum
    double busy = 0;          // seconds since others were told
    std::uint64_t limit = 1;  // tasks of the next quantum
    std::optional<task_range> todo;
    std::vector<task_payload> payloads;
    role::farm_actions wanted;  // by the role when it was asked for work; kept for its memory
  };

  void begin(std::unique_lock<std::mutex>& lock) override;
  void receive(int from, std::span<std::byte const> body, transport::packet& whole) override;
  [[nodiscard]] bool find_work(unsigned thread) override;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void after_quantum(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void please_stop() override;
  void abort(std::string const& text) override;
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool last) const override;

  void check_choices() const;
  [[nodiscard]] bool resumes() const { return options_.checkpoint && options_.checkpoint->resume; }
  void open_store();
  void restore();
  void record_rest(std::unique_lock<std::mutex> lock);
  void describe_call();
  [[nodiscard]] role::farm_worker_config worker_setup(std::vector<int> const& workers);
  [[nodiscard]] role::farm_ledger_config ledger_setup(std::vector<int> workers) const;
  void perform(role::farm_actions& list, thread_state* thread);
  void perform(role::farm_action& action, thread_state* thread);
  void send_to(int to, role::farm_message m);
  void send_to_self(role::farm_message m);
  void deliver(int from, role::farm_message const& m, result_batch batch);
  void deliver_own();
  [[nodiscard]] result_batch take_held();
  void store_payloads(std::span<task_range const> ranges, std::span<std::byte const> bytes,
                      transport::packet& whole);
  void pack_payloads(std::span<task_range const> ranges, std::vector<std::byte>& out);
  void fetch_payloads(thread_state& t);
  void run_slices(unsigned thread, task_range const& range, std::uint64_t& at, result_batch& batch);
  void hold(result_batch batch);
  [[nodiscard]] bool computes_in_place() const;
  void adapt(thread_state& t, std::uint64_t tasks, double seconds, std::size_t bytes);
  void drain_sink();
  [[nodiscard]] sink_stage::progress drain_timed(std::deque<sink_stage::entry>& entries);
  void weigh_help();
  void supply();
  void after_work();

  farm_work& work_;
  farm_policy policy_;
  farm_options options_;
  farm_traits traits_;
  bool keeps_local_;  // results stay objects on this rank

  std::unique_ptr<farm_recorder> recorder_;  // on the root, with checkpoints
  role::farm_worker worker_;
  std::optional<role::farm_ledger> ledger_;
  sink_stage sink_;
  std::atomic_flag sink_busy_;  // not a mutex: a sink that spends simulated time comes back to drain_sink
  std::mutex source_mutex_;
  bool source_ended_ = false;
  std::uint64_t supplied_ = 0;

  std::deque<result_batch> held_;  // finished, not sent; in the order of the worker role's list
  struct own_message {
    role::farm_message what;
    result_batch batch;
  };
  loopback<own_message> to_self_;
  range_list accepted_;  // by the ledger, of the message being handled
  struct packed_task {
    std::shared_ptr<std::vector<std::byte> const> bytes;
    std::size_t offset, size;
  };
  std::unordered_map<task_id, packed_task> payloads_;

  std::vector<thread_state> state_;
  std::size_t not_stopped_ = 0;          // ranks that have not said `stopped`, for the watchdog
  std::vector<bool> heard_;              // ranks that have taken part in this run so far
  std::vector<std::uint64_t> finished_;  // per rank, as of the last stock: who is still moving
  std::atomic<std::uint64_t> sunk_{0};
  farm_help help_;                  // on the root
  std::atomic<int> lost_ranks_{0};  // for the progress line
};

}  // namespace skel::detail
