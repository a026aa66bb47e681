// One divide_and_conquer call on one rank: drives the role, divides, solves and combines.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "call/peer_run.hpp"
#include "divide_and_conquer/role/member.hpp"
#include "divide_and_conquer/role/root.hpp"
#include "phase_clock.hpp"
#include "skel/detail/divide_work.hpp"
#include "skel/divide_and_conquer.hpp"

namespace skel::detail {

/// Jobs carry out the actions of the role. A job runs without the engine's lock and packs and
/// unpacks there, so the lock is not held while large problems and solutions are converted. The
/// rank divides its own problem further into pieces, so that all compute threads have work.
class divide_run final : public peer_run {
 public:
  divide_run(context& ctx, divide_work& work, divide_kind const& kind,
             divide_and_conquer_options const& options);
  ~divide_run() override;
  /// Call after execute(). Returns this rank's share of the solution.
  [[nodiscard]] solution_ptr take_solution();

  void on_lost(int rank) override;
  void on_outside_loss(int rank) override { root_role_.from_outside(rank); }
  void on_tick(double t) override;
  void idle_work() override {}
  // Messages are only handled when the rank's own part is done.
  [[nodiscard]] bool patient() const override { return true; }
  [[nodiscard]] std::string state() const override;

 private:
  using rank_span = role::rank_span;
  using bytes = transport::packet;
  // A problem as an object, as received bytes, or both: the packed bytes of an object that will
  // travel.
  struct held_problem {
    problem_ptr object;
    std::shared_ptr<bytes const> packed;
  };
  struct held_solution {
    solution_ptr object;
    std::optional<bytes> packed;
  };
  // A piece of a group's problem, and the two pieces that it was divided into.
  struct piece {
    rank_span group;
    std::shared_ptr<piece> parent;
    int side = 0;
    unsigned depth = 0;  // how many more times it may be divided
    held_problem problem;
    std::array<held_solution, 2> halves;
    int open_halves = 2;
    double begin = 0;     // start time of the group's first piece, if it was divided
    problem_sizes sizes;  // of the group's first piece, if it was divided
  };
  struct job {
    enum class kind : std::uint8_t { divide, solve, merge, combine } what = kind::divide;
    std::shared_ptr<piece> of;
  };
  // The output of a job, and its duration.
  struct done {
    std::optional<std::pair<problem_ptr, problem_ptr>> halves;
    std::shared_ptr<bytes const> right_packed;
    held_solution solution;
    problem_sizes sizes;
    double begin = 0, end = 0;
    double seconds = 0;  // inside divide or combine
    double pack_seconds = 0, unpack_seconds = 0;
    std::size_t packed_bytes = 0;
  };

  void begin(std::unique_lock<std::mutex>& lock) override;
  void receive(int from, std::span<std::byte const> body, transport::packet& whole) override;
  [[nodiscard]] bool find_work(unsigned thread) override;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void please_stop() override;
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool last) const override;

  void perform(role::divide_actions& list, bytes* payload = nullptr, done* result = nullptr);
  void send(int to, role::divide_message m);
  void send_call(int to, role::call_message m) override { send(to, std::move(m)); }
  void attach(role::divide_message const& m, int to, bytes& body);
  void attach_to_call(role::call_message const& m, int to, bytes& body);
  void append(held_problem const& p, bytes& body) const;
  void append(held_solution& s, bytes& body) const;
  void deliver(int from, role::divide_message const& m, bytes* payload);
  void deliver_own() override;
  void blame(role::divide_act::blame const& b);
  void add_job(job::kind what, rank_span group);
  void run(job const& j, done& d);
  void finish(job const& j, done& d);
  void check_quiet();
  void fail(std::string text);
  void end_source(std::string const& text);
  [[nodiscard]] problem_ptr open_problem(held_problem& p);
  [[nodiscard]] solution_ptr open_solution(held_solution& s);
  [[nodiscard]] bool travels(rank_span group) const;
  [[nodiscard]] rank_span everybody() const { return role_.groups().everybody(); }
  [[nodiscard]] int level(rank_span group) const { return role::depth_of(everybody(), group); }

  divide_work& work_;
  divide_kind kind_;
  unsigned piece_depth_ = 0;
  role::divide_member role_;
  role::divide_root root_role_;  // on the root
  std::map<rank_span, held_problem> problems_;
  std::map<rank_span, held_solution> solutions_;
  loopback<role::divide_message> to_self_;
  std::deque<job> jobs_;
  unsigned running_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t calls_told_ = 0;
  std::uint64_t taken_over_ = 0;  // by the other ranks; on the root
  int combined_ = 0;              // number of levels, for the progress display
  phase_clock phases_;
};

}  // namespace skel::detail
