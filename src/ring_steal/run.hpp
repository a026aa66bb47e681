// One ring_steal call on one rank: drives the roles, runs tasks, and keeps the books of debts and loans.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "books.hpp"
#include "call/protocol_run.hpp"
#include "recorder.hpp"
#include "ring_steal/role/member.hpp"
#include "skel/detail/steal_work.hpp"
#include "skel/ring_steal.hpp"
#include "threads.hpp"
#include "times.hpp"

namespace skel::detail {

class steal_run;

struct steal_protocol {
  using run = steal_run;
  using message = role::steal_message;
  using action = role::steal_action;
  using send = role::steal::send;
  using member = role::steal_member;
  using root_role = no_root_role;
  using cargo = std::span<std::byte const>;  // packed tasks or results
};

/// The tasks of a debt wait under the engine's lock (steal_books).
class steal_run final : public protocol_run<steal_protocol> {
 public:
  steal_run(context& ctx, steal_work& work, schedule::stealing const& how, ring_steal_options const& options,
            merged_result& total);

  void on_tick(double t) override;
  /// In a call of all ranks, on another one than the root, which has the whole run.
  bool vacate(bool leaves) override;
  void idle_work() override;
  [[nodiscard]] std::string state() const override;
  /// Call after execute(), however it ended. Saves the recorded state if a checkpoint was
  /// requested. Returns the costs of checkpoints.
  std::optional<checkpoint_report> close();

 private:
  friend class protocol_run<steal_protocol>;
  using debt_id = role::debt_id;

  // --- roles and messages
  void begin(std::unique_lock<std::mutex>& lock) override;
  [[nodiscard]] bool take_value();
  [[nodiscard]] transport::packet pack(int to, message& m);
  [[nodiscard]] cargo unpack(int from, message& m, std::span<std::byte const> body, transport::packet& whole);
  void pack_totals(std::vector<std::byte>& out);
  void add_totals(int from, std::span<std::byte const>& in);
  void receive(int from, std::span<std::byte const> body, transport::packet& whole) override;
  void drained(bool early);
  void fail(std::string text) { tell(member_, &member::failed, measures_.tasks_run(), std::move(text)); }

  void act(role::steal::send& a, cargo* with);
  void act(role::steal::work const& a, cargo* with);
  void act(role::steal::set_apart const& a, cargo* with);
  void act(role::steal::lend_again const& a, cargo* with);
  void act(role::steal::record const& a, cargo* with);
  void act(role::steal::complete const& a, cargo* with);
  template <class A>
    requires requires(steal_books& books, A const& a, cargo const& with) { books.act(a, with); }
  void act(A const& a, cargo* with) {
    if (auto const bad = thrown_by([&] { books_.act(a, with == nullptr ? cargo{} : *with); })) fail(*bad);
    if constexpr (std::is_same_v<A, role::steal::accept>) thief_.succeeded();
  }

  // --- compute threads
  [[nodiscard]] bool find_work(unsigned thread) override;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void after_quantum(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void rest(std::unique_lock<std::mutex>& lock, double seconds) override;
  void serve();
  void share_bound();
  void check_done();
  void state_debts();

  // --- report and progress
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool last) const override;

  steal_work& work_;
  schedule::stealing how_;
  ring_steal_options options_;
  merged_result& total_;
  steal_books books_;
  steal_threads threads_at_work_;
  unsigned running_ = 0;  // threads inside tasks
  thief_times thief_;
  statement_times statements_;
  std::atomic<std::uint64_t>* const bound_;   // of the tasks on this rank; null: the job has none
  std::unique_ptr<steal_recorder> recorder_;  // on the root, with checkpoints
  debt_id sending_ = 0;                       // the debt that the message being sent is about
  struct totals {
    std::uint64_t steals = 0, taken_back = 0;
    std::vector<std::uint64_t> tasks;  // of each
  } others_;                           // on the root
  std::uint64_t tasks_told_ = 0;
  struct {
    std::uint64_t list_hash = 0;   // of the tasks of an on_root source, if the call may run again
    std::vector<std::byte> bytes;  // on the root: that hash, and the total
  } value_;                        // what the other ranks get in the end
};

}  // namespace skel::detail
