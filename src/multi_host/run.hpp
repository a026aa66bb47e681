// One multi_host call on one rank: drives the roles, and lets compute threads read, process and sink.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "call/protocol_run.hpp"
#include "cargo_hold.hpp"
#include "multi_host/role/root.hpp"
#include "piece_runner.hpp"
#include "setup.hpp"

namespace skel::detail {

class group_run;

struct group_protocol {
  using run = group_run;
  using message = role::group_message;
  using action = role::group_action;
  using send = role::group::send;
  using member = role::group_member;
  using root_role = role::group_root;
  using cargo = group_cargo;
};

class group_run final : public protocol_run<group_protocol> {
 public:
  group_run(context& ctx, std::uint64_t units, group_work& work, multi_host_options const& options);

  void on_tick(double t) override;
  /// In a call of all ranks: a rank other than the root that leads no group.
  bool vacate(bool leaves) override;
  /// On the root: drains the sink.
  void idle_work() override;
  [[nodiscard]] bool idle_work_takes_long() const override { return is_root(); }
  [[nodiscard]] std::string state() const override;

 private:
  friend class protocol_run<group_protocol>;
  // Padded so that threads do not share lines.
  struct alignas(128) thread_state {
    std::variant<std::monostate, led_share::read_job, led_share::sink_job, process_job> todo;
  };

  // --- compute threads; the lock is held on entry and exit of each do_job(), not meanwhile
  [[nodiscard]] bool find_work(unsigned thread) override;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void after_quantum(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void do_job(led_share::read_job const& j, unsigned thread, std::unique_lock<std::mutex>& lock);
  void do_job(process_job const& j, unsigned thread, std::unique_lock<std::mutex>& lock);
  void do_job(led_share::sink_job const& j, unsigned thread, std::unique_lock<std::mutex>& lock);

  void count() { roll_->count(hold_.sink().sunk(), 0); }

  // --- roles and messages
  void begin(std::unique_lock<std::mutex>& lock) override;
  void send_to_self(message& m);
  [[nodiscard]] transport::packet pack(int to, message const& m);
  [[nodiscard]] group_cargo unpack(int /*from*/, message const& m, std::span<std::byte const> body,
                                   transport::packet& whole) {
    return hold_.unload(m, body, whole);
  }
  void not_packed(message const& m, std::string text) {
    tell(member_, &member::failed, cargo_hold::unit_of(m), std::move(text));
  }
  void pack_totals(std::vector<std::byte>& out);
  void add_totals(int /*from*/, std::span<std::byte const>& in) {
    group_clock other;
    role::codec::get(other, in);
    clock_.add(other);
  }
  void route(int from, message const& m, group_cargo& with, actions& out);
  template <class F>
  void each_role(F const& each) {
    if (auto* const root = active_root()) each(*root);
    each(host_);
    each(member_);
  }
  void drained(bool early);
  /// Ends the call once the sink has received all units.
  void performed(group_cargo* with);
  /// The root's role, unless the run stops or is over; null on the other ranks.
  [[nodiscard]] root_role* active_root() {
    return roll_ && !roll_->stopping() && !roll_->finished() ? &*root_role_ : nullptr;
  }
  /// An action that concerns the data on this rank. They are gone once it drains, perhaps since the last
  /// action of the same list.
  template <class Action>
    requires requires(cargo_hold& hold, Action& a, group_cargo* with) { hold.act(a, with); }
  void act(Action& a, group_cargo* with) {
    if (!draining_) hold_.act(a, with);
  }
  void act(role::group::send& a, group_cargo* /*with*/) {
    if (!draining_ || !cargo_hold::carries(a.what)) send(a.to, std::move(a.what));
  }
  void act(role::group::deliver const& a, group_cargo* with);
  void act(role::fail const& a, group_cargo* with);

  // --- report and progress
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool last) const override;

  group_setup setup_;
  role::group_host host_;
  group_clock clock_;  // of this rank; on the root, in the end, of all
  cargo_hold hold_;
  size_trial trial_;  // used on the root
  piece_runner pieces_;
  piece_pace pace_;
  std::vector<thread_state> state_;
  std::span<std::byte const> recalled_{};  // while this unit of an earlier attempt is sent
  std::uint64_t units_done_ = 0;           // of this host
  unsigned inside_ = 0;                    // threads in the user's functions
  std::uint64_t pieces_told_ = 0;          // of this rank, to the root's watchdog
};

}  // namespace skel::detail
