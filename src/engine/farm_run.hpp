// One farm call on one rank: drives the roles, runs tasks, carries results to the sink.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine.hpp"
#include "sink_stage.hpp"
#include "skel/detail/farm_work.hpp"
#include "skel/protocol/ledger.hpp"
#include "skel/protocol/worker.hpp"

namespace skel::detail {

/// How an abort begins that the watchdog has asked for: whoever hears it says where it stands.
inline constexpr std::string_view watchdog_text = "no progress for ";

class farm_run final : public run {
 public:
  farm_run(context& ctx, farm_work& work, farm_policy policy, farm_options const& options);
  ~farm_run() override;
  /// The caller's part: returns the report or throws what the failure contract says.
  report execute();

  void on_message(int from, std::span<std::byte const> body, transport::packet& whole) override;
  void on_lost(int rank) override;
  void on_left(int rank) override;
  void on_tick(double t) override;
  void work(unsigned thread) override;
  void idle_work() override { drain_sink(); }
  [[nodiscard]] std::string state() const override;

 private:
  // What one compute thread measures and does; padded so that threads do not share lines.
  struct alignas(128) thread_state {
    double busy = 0;
    double idle = 0;
    std::uint64_t tasks = 0;
    double cost = 0;          // seconds per task, of the latest quantum
    double result_bytes = 0;  // bytes per result, likewise
    std::uint64_t limit = 1;  // tasks of the next quantum
    std::optional<task_range> todo;
    std::vector<task_payload> payloads;
  };

  [[nodiscard]] double now() const { return engine_.now(); }
  void check_choices() const;
  [[nodiscard]] bool is_root() const { return rank_ == root_; }
  void perform(protocol::actions& list, thread_state* thread);
  void send_to(int to, protocol::message m);
  void deliver(int from, protocol::message const& m, result_batch* batch, thread_state* thread);
  void deliver_own();
  [[nodiscard]] result_batch take_held();
  void store_payloads(protocol::message const& m, std::span<std::byte const> bytes, transport::packet& whole);
  void pack_payloads(range_list const& ranges, std::vector<std::byte>& out);
  void fetch_payloads(thread_state& t);
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock);
  void run_slices(unsigned thread, task_range const& range, std::uint64_t& at, result_batch& batch);
  void hold(result_batch batch);
  void adapt(thread_state& t, std::uint64_t tasks, double seconds, std::size_t bytes);
  void drain_sink();
  [[nodiscard]] sink_stage::progress drain_timed(std::deque<sink_stage::entry>& entries);
  void weigh_help();
  [[nodiscard]] bool root_is_at_it() const;
  void supply();
  void fail_source(std::string text);
  void check_stop();
  void show_progress(bool last);
  void watch(double t);
  void say_state(std::string const& why) const;
  void wait_for_work(unsigned thread, double idle_since, std::unique_lock<std::mutex>& lock);
  void after_work();
  void give_up(std::exception_ptr error);
  void span(unsigned thread, observe::activity what, double begin, double end, std::uint64_t first,
            std::uint64_t count);
  [[nodiscard]] std::vector<std::byte> packed_stats();
  void unpack_stats(int from, std::span<std::byte const> bytes);
  [[nodiscard]] rank_report own_stats() const;
  [[nodiscard]] report make_report();

  context& ctx_;
  engine& engine_;
  farm_work& work_;
  farm_policy policy_;
  farm_options options_;
  farm_traits traits_;
  run_key key_;
  int rank_;
  int root_ = 0;
  unsigned threads_;
  bool computes_ = true;
  bool keeps_local_;  // results stay objects on this rank
  double start_;

  protocol::worker worker_;
  std::optional<protocol::ledger> ledger_;
  sink_stage sink_;
  std::atomic_flag sink_busy_;  // not a mutex: a sink that spends simulated time comes back to drain_sink
  std::mutex source_mutex_;
  bool source_ended_ = false;
  std::uint64_t supplied_ = 0;

  std::deque<result_batch> held_;  // finished, not sent; in the order of the worker role's list
  struct own_message {
    protocol::message what;
    result_batch batch;
  };
  std::deque<own_message> to_self_;
  bool delivering_ = false;
  range_list accepted_;  // by the ledger, of the message being handled
  struct packed_task {
    std::shared_ptr<std::vector<std::byte> const> bytes;
    std::size_t offset, size;
  };
  std::unordered_map<task_id, packed_task> payloads_;

  std::vector<thread_state> state_;
  std::size_t not_stopped_ = 0;        // ranks that have not said `stopped`, for the watchdog
  std::vector<bool> heard_;            // ranks that have taken part in this run so far
  std::atomic<bool> over_{false};      // the run has ended or failed here
  std::atomic<bool> draining_{false};  // stop was heard: results do not matter any more
  std::exception_ptr error_;
  std::optional<protocol::outcome> outcome_;
  std::vector<rank_report> stats_;       // of the other ranks, on the root
  std::vector<std::uint64_t> finished_;  // per rank, as of the last stock: who is still moving
  std::vector<observe::rank_trace> remote_traces_;
  std::unique_ptr<observe::trace_buffer> trace_;
  std::unique_ptr<observe::progress_display> display_;
  std::uint64_t base_messages_ = 0;
  std::uint64_t base_bytes_ = 0;
  std::atomic<std::uint64_t> sunk_{0};
  // On the root: seconds per result, of its own and of other ranks', and when it last finished tasks of its
  // own.
  double own_sink_cost_ = 0;
  double remote_sink_cost_ = 0;
  std::atomic<double> own_finished_{0};
  std::atomic<bool> holds_back_{false};
  std::atomic<bool> stop_sent_{false};
  std::atomic<int> lost_ranks_{0};  // for the progress line
  double stopping_since_ = -1;
  double last_moved_ = 0;  // for the watchdog
};

}  // namespace skel::detail
