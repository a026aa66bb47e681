// One bsp call on one rank: drives the roles, computes supersteps, saves and restores.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bsp/role/route.hpp"
#include "call/peer_run.hpp"
#include "loop_threads.hpp"
#include "skel/bsp.hpp"
#include "skel/detail/bsp_work.hpp"
#include "store.hpp"

namespace skel::detail {

class bsp_run final : public peer_run {
 public:
  bsp_run(context& ctx, bsp_work& work, bsp_options const& options, bool again);
  ~bsp_run() override;

  void on_lost(int rank) override;
  void on_outside_loss(int rank) override {
    if (root_role_) root_role_->from_outside(rank);
  }
  void on_tick(double t) override;
  void idle_work() override {}
  [[nodiscard]] std::string state() const override;
  /// Call after execute(), on the root.
  [[nodiscard]] std::optional<checkpoint_report> checkpoint_costs();
  /// Call after execute(). `complete`: not ended early.
  void end_store(bool complete);

 private:
  using restore_job = role::bsp::restore;
  using save_job = role::bsp::save;
  using compute_job = role::bsp::compute;
  using job = std::variant<restore_job, save_job, compute_job>;
  struct arrival {
    int from = 0;
    transport::packet messages;
  };
  using bundles_by_step = std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<arrival>>;

  void begin(std::unique_lock<std::mutex>& lock) override;
  void receive(int from, std::span<std::byte const> body, transport::packet& whole) override;
  [[nodiscard]] bool find_work(unsigned thread) override;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void please_stop() override;
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool last) const override;

  [[nodiscard]] role::bsp_root_config conduct(bool again);
  [[nodiscard]] std::uint64_t hash_of_run() const;
  void do_job(restore_job const& j, unsigned thread, std::unique_lock<std::mutex>& lock);
  void do_job(save_job const& j, unsigned thread, std::unique_lock<std::mutex>& lock);
  void do_job(compute_job const& j, unsigned thread, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] std::vector<arrival>& bundles_of(std::uint64_t epoch, std::uint64_t step);
  void take_bundles(std::uint64_t epoch, std::uint64_t step);
  void receive_bundles();
  void tell_saved(std::uint64_t generation, bool well);
  void poll_store();
  void perform(role::bsp_actions& list, transport::packet* payload = nullptr);
  void perform_for_root(role::bsp_action const& action);
  void send(int to, role::bsp_message m);
  void send_call(int to, role::call_message m) override { send(to, std::move(m)); }
  [[nodiscard]] transport::packet payload_of(int to, role::bsp_message const& m);
  void deliver(int from, role::bsp_message const& m, transport::packet* payload);
  void deliver_own() override;
  void fail(std::string text);
  void check_quiet();

  bsp_work& work_;
  bsp_options options_;
  std::unique_ptr<bsp_store> store_;
  loop_threads loops_;

  role::bsp_member member_;
  std::optional<role::bsp_root> root_role_;
  bundles_by_step bundles_;                       // received bundles, by epoch and superstep
  std::vector<std::vector<std::byte>> outgoing_;  // of the latest superstep, by place
  // The messages of the job that is running:
  std::vector<arrival> came_;
  std::vector<std::span<std::byte const>> came_from_;  // their bytes, by place
  // Memory of earlier supersteps, which is reused: allocations would cost as much as MPI's calls.
  bundles_by_step::node_type spare_bundles_;
  role::bsp_actions spare_actions_;
  std::vector<std::uint32_t> messages_for_;

  loopback<role::bsp_message> to_self_;
  std::deque<job> jobs_;
  bool running_ = false;
  bool moved_ = false;  // since the latest tick
  struct cost {
    double blocked = 0, serialise = 0, code = 0, transfer = 0, write = 0, sync = 0;
  };
  std::map<int, cost> costs_of_;  // of the other ranks, on the root
  std::uint64_t supersteps_ = 0;  // of this rank, including repeated ones
};

}  // namespace skel::detail
