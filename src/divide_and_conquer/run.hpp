// One divide_and_conquer call on one rank: drives the roles, keeps problems and solutions.
#pragma once

#include <map>
#include <string>

#include "call/protocol_run.hpp"
#include "divide_and_conquer/role/member.hpp"
#include "divide_and_conquer/role/root.hpp"
#include "jobs.hpp"
#include "phase_clock.hpp"
#include "skel/divide_and_conquer.hpp"

namespace skel::detail {

class divide_run;

struct divide_protocol {
  using run = divide_run;
  using message = role::divide_message;
  using action = role::divide_action;
  using send = role::divide::send;
  using member = role::divide_member;
  using root_role = role::divide_root;
  using cargo = held_solution;  // a packed problem or solution, or the solution of a job
};

/// Jobs carry out the actions of the role.
class divide_run final : public protocol_run<divide_protocol> {
 public:
  divide_run(context& ctx, divide_work& work, divide_kind const& kind,
             divide_and_conquer_options const& options);
  /// Call after execute(). Returns this rank's share of the solution.
  [[nodiscard]] solution_ptr take_solution();

  // Messages are only handled when the rank's own part is done.
  [[nodiscard]] bool patient() const override { return true; }
  void on_tick(double t) override;
  [[nodiscard]] std::string state() const override;

 private:
  friend class protocol_run<divide_protocol>;
  using rank_span = role::rank_span;

  // --- roles and messages
  void begin(std::unique_lock<std::mutex>& lock) override;
  [[nodiscard]] transport::packet pack(int to, message& m);
  [[nodiscard]] cargo unpack(int from, message& m, std::span<std::byte const> body, transport::packet& whole);
  void pack_totals(std::vector<std::byte>& out);
  void add_totals(int from, std::span<std::byte const>& in);
  void drained(bool /*early*/) { jobs_.clear(); }
  void fail(std::string text) { tell(member_, &member::failed, calls_, std::move(text)); }

  void act(role::divide::divide const& a, cargo* with);
  void act(role::divide::solve const& a, cargo* with);
  void act(role::divide::combine const& a, cargo* with);
  void act(role::divide::keep_problem const& a, cargo* with);
  void act(role::divide::keep_solution const& a, cargo* with);
  void act(role::divide::blame const& a, cargo* with);

  // --- compute threads
  [[nodiscard]] bool find_work(unsigned thread) override;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void finish(divide_job const& j, divide_job::done& d);
  void check_quiet();
  void wake_others();
  void remember(held_solution const& s);

  // --- report and progress
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool last) const override;

  [[nodiscard]] rank_span everybody() const { return member_.groups().everybody(); }
  [[nodiscard]] int level(rank_span group) const { return role::depth_of(everybody(), group); }

  divide_work& work_;
  divide_kind kind_;
  divide_jobs jobs_;
  std::map<rank_span, held_problem> problems_;
  std::map<rank_span, held_solution> solutions_;
  unsigned running_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t calls_told_ = 0;
  std::uint64_t taken_over_ = 0;  // by the other ranks; on the root
  int combined_ = 0;              // number of levels, for the progress display
  std::size_t bytes_sent_ = 0;    // size of the latest solution that travelled
  phase_clock phases_;
};

}  // namespace skel::detail
