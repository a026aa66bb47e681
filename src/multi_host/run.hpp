// One multi_host call on one rank: drives the roles, and lets compute threads read, process and sink.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "call/peer_run.hpp"
#include "cargo_codec.hpp"
#include "clock.hpp"
#include "led_share.hpp"
#include "multi_host/role/route.hpp"
#include "piece_pace.hpp"
#include "piece_runner.hpp"
#include "setup.hpp"
#include "size_trial.hpp"
#include "unit_sink.hpp"
#include "worker_packets.hpp"

namespace skel::detail {

class group_run final : public peer_run {
 public:
  group_run(context& ctx, std::uint64_t units, group_work& work, multi_host_options const& options);

  void on_lost(int rank) override;
  void on_outside_loss(int rank) override;
  void on_tick(double t) override;
  void idle_work() override;
  [[nodiscard]] std::string state() const override;

 private:
  // Padded so that threads do not share lines.
  struct alignas(128) thread_state {
    std::variant<std::monostate, led_share::read_job, led_share::sink_job, process_job> todo;
  };
  struct own_message {
    role::group_message what;
    group_cargo with;
  };

  // --- compute threads
  [[nodiscard]] bool find_work(unsigned thread) override;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void after_quantum(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  // The lock is held on entry and exit of each, not meanwhile.
  void read(unsigned thread, led_share::read_job const& j, std::unique_lock<std::mutex>& lock);
  void process(unsigned thread, process_job const& j, std::unique_lock<std::mutex>& lock);
  void sink_here(led_share::sink_job const& j, std::unique_lock<std::mutex>& lock);
  void settle();
  void drain_sink();
  void maybe_measured();

  // --- roles and messages
  void begin(std::unique_lock<std::mutex>& lock) override;
  void receive(int from, std::span<std::byte const> body, transport::packet& whole) override;
  void deliver(int from, role::group_message const& m, group_cargo& with);
  void deliver_own() override;
  void perform(role::group_actions& list, group_cargo* with = nullptr, thread_state* thread = nullptr);
  void perform(role::group_action& action, group_cargo* with, thread_state* thread);
  void perform_for_host(role::group_action const& action, group_cargo* with);
  void send(int to, role::group_message m);
  void send_call(int to, role::call_message m) override { send(to, std::move(m)); }
  void please_stop() override;
  void maybe_complete();
  /// Passes an event to a role and performs its actions: `tell(host_, &role::group_host::lost, rank)`.
  template <class Role, class Event, class... Arguments>
  void tell(Role& who, Event event, Arguments&&... arguments) {
    role::group_actions list;
    std::invoke(event, who, std::forward<Arguments>(arguments)..., list);
    perform(list);
  }
  /// Whether this is the root, and the run neither stops nor is over.
  [[nodiscard]] bool runs_on_root() const { return roll_ && !roll_->stopping() && !roll_->finished(); }

  // --- report and progress
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool last) const override;

  group_setup setup_;
  role::group_member member_;
  role::group_host host_;
  std::optional<role::group_root> root_role_;  // on the root
  group_clock clock_;                          // of this rank; on the root, in the end, of all
  led_share share_;
  worker_packets packets_;
  cargo_codec codec_;
  size_trial trial_;  // used on the root
  piece_runner pieces_;
  piece_pace pace_;
  unit_sink sink_;
  loopback<own_message> to_self_;
  std::vector<thread_state> state_;
  unsigned inside_ = 0;            // threads in the user's functions
  std::uint64_t pieces_told_ = 0;  // of this rank, to the root's watchdog
};

}  // namespace skel::detail
