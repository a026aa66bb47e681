// One bsp call on one rank: drives the roles, computes supersteps, saves and restores.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <variant>

#include "bsp/role/member.hpp"
#include "bsp/role/root.hpp"
#include "call/protocol_run.hpp"
#include "loop_threads.hpp"
#include "mailbox.hpp"
#include "skel/bsp.hpp"
#include "skel/detail/bsp_work.hpp"
#include "store.hpp"

namespace skel::detail {

class bsp_run;

struct bsp_protocol {
  using run = bsp_run;
  using message = role::bsp_message;
  using action = role::bsp_action;
  using send = role::bsp::send;
  using member = role::bsp_member;
  using root_role = role::bsp_root;
  using cargo = transport::packet;  // the messages of a superstep
};

class bsp_run final : public protocol_run<bsp_protocol> {
 public:
  bsp_run(context& ctx, bsp_work& work, bsp_options const& options, bool again);
  ~bsp_run() override;

  void on_lost(int rank, bool killed) override;
  void on_tick(double t) override;
  /// In a call of all ranks with checkpoints, if it is the only one.
  bool vacate(bool leaves) override;
  /// A loss leads back as far in this attempt.
  [[nodiscard]] double kept() override { return store_ || !over_ ? measures_.seconds() : 0; }
  [[nodiscard]] std::string state() const override;
  /// Call after execute(), with its report.
  void close_store(report& r);

 private:
  friend class protocol_run<bsp_protocol>;
  using job = std::variant<role::bsp::restore, role::bsp::save, role::bsp::compute>;

  // --- roles and messages
  [[nodiscard]] role::bsp_root_config root_config(bool again);
  void begin(std::unique_lock<std::mutex>& lock) override;
  [[nodiscard]] transport::packet pack(int to, message& m);
  [[nodiscard]] transport::packet unpack(int from, message& m, std::span<std::byte const> body,
                                         transport::packet& whole);
  void drained(bool early);
  void fail(std::string text) { tell(member_, &member::failed, std::move(text)); }

  void act(role::bsp::keep const& a, cargo* with);
  void act(role::bsp::forget const& a, cargo* /*with*/) { mail_.forget_before(a.epoch); }
  void act(role::bsp::announce const& a, cargo* with);
  void act(role::bsp::no_more const& a, cargo* /*with*/) { tell(member_, &member::no_more, a.epoch); }
  void act(role::bsp::refuse const& a, cargo* with);
  template <class Job>
    requires std::is_constructible_v<job, std::in_place_type_t<Job>, Job const&>
  void act(Job const& a, cargo* /*with*/) {
    jobs_.emplace_back(a);
  }
  template <class OfStore>
    requires requires(bsp_store& s, OfStore const& a) { s.act(a); }
  void act(OfStore const& a, cargo* /*with*/) {
    store_->act(a);
  }

  // --- the compute thread
  [[nodiscard]] bool find_work(unsigned thread) override;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void do_job(role::bsp::restore const& j, unsigned thread, std::unique_lock<std::mutex>& lock);
  void do_job(role::bsp::save const& j, unsigned thread, std::unique_lock<std::mutex>& lock);
  void do_job(role::bsp::compute const& j, unsigned thread, std::unique_lock<std::mutex>& lock);
  void check_quiet();
  void poll_store();

  // --- report and progress
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool last) const override;

  bsp_work& work_;
  bsp_options options_;
  std::unique_ptr<bsp_store> store_;
  loop_threads loops_;
  std::set<int> counted_;  // losses of which the store knows
  mailbox mail_;
  std::deque<job> jobs_;
  bool running_ = false;
  bool moved_ = false;            // since the latest tick
  std::uint64_t supersteps_ = 0;  // of this rank, including repeated ones
};

}  // namespace skel::detail
