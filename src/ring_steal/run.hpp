// One ring_steal call on one rank: drives the roles, runs tasks, and keeps the books of debts and
// loans.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "call/pace.hpp"
#include "call/peer_run.hpp"
#include "recorder.hpp"
#include "ring_steal/role/member.hpp"
#include "skel/detail/steal_work.hpp"
#include "skel/ring_steal.hpp"

namespace skel::detail {

/// Seconds between statements about a debt that is suspect.
inline constexpr double suspects_interval = 50e-3;

/// The tasks of a debt wait in one bag per debt, under the engine's lock. A thread takes the newest
/// tasks, works on them and their children for about 100 microseconds, and returns the rest.
/// Thieves, other threads and the roles therefore see all tasks except the running ones, and the
/// overhead is negligible even for tasks of a tenth of a microsecond.
class steal_run final : public peer_run {
 public:
  steal_run(context& ctx, steal_work& work, schedule::stealing const& how, ring_steal_options const& options,
            merged_result& total);
  ~steal_run() override;

  void on_lost(int rank) override;
  void on_outside_loss(int rank) override { role_.from_outside(rank); }
  void on_tick(double t) override;
  void idle_work() override;
  [[nodiscard]] std::string state() const override;
  /// Call after execute(), however it ended. Saves the recorded state if a checkpoint was
  /// requested.
  void save_last();
  [[nodiscard]] std::optional<checkpoint_report> checkpoint_costs() const;

 private:
  using debt_id = role::debt_id;
  using loan_id = role::loan_id;
  // State of one compute thread. Padded, so that threads do not share cache lines.
  struct alignas(128) thread_state {
    task_pace pace{{.weight = 0.5}};
    std::size_t takes = 0;               // tasks per quantum, recent average
    std::unique_ptr<task_bag> bag;       // the tasks in progress
    std::unique_ptr<merged_result> sum;  // the result of its tasks of debt `sum_of`
    std::optional<debt_id> sum_of;
    std::uint64_t sum_tasks = 0;
    bool runs = false;             // tasks of debt `sum_of`
    bool copied = false;           // `taken` holds a copy of the running tasks
    std::vector<std::byte> taken;  // the bag at the start of the quantum, packed
  };
  // The work of a thread in one quantum. Other threads may read its clock meanwhile.
  struct quantum {
    bool alone = false;  // thieves wait for its end
    std::uint64_t tasks = 0;
  };
  struct debt {
    std::unique_ptr<task_bag> waiting;
    std::unique_ptr<merged_result> sum;  // results of repaid loans, and of threads that have finished
    std::uint64_t tasks = 0;             // in `sum`
    unsigned running = 0;                // threads working on it
    unsigned copied = 0;                 // number of these that have left a copy of the tasks they took
    bool changed = false;                // since its latest statement
    double state_at = 0;                 // for a suspect debt: earliest time of the next statement
  };
  struct loan {
    debt_id of = 0;
    steal_statement worth{};  // initially the tasks lent, later the borrower's latest statement
  };

  void begin(std::unique_lock<std::mutex>& lock) override;
  void receive(int from, std::span<std::byte const> body, transport::packet& whole) override;
  [[nodiscard]] bool find_work(unsigned thread) override;
  void compute(unsigned thread, std::unique_lock<std::mutex>& lock) override;
  void after_quantum(unsigned /*thread*/, std::unique_lock<std::mutex>& /*lock*/) override {
    state_if_due();
    if (role_.debts().has_met_suspects()) state_suspects();
  }
  void rest(std::unique_lock<std::mutex>& lock, double seconds) override;
  void please_stop() override;
  void describe(report& r) const override;
  void describe(observe::progress_state& s, bool last) const override;

  debt& open_debt(debt_id id);
  void perform(role::steal_actions& list, std::span<std::byte const> payload = {});
  void perform_one(role::steal_action& action, std::span<std::byte const> payload);
  void dispatch(int to, role::steal_message const& m, debt_id of = 0);
  void send_call(int to, role::call_message m) override { dispatch(to, std::move(m)); }
  [[nodiscard]] bool attach(role::steal_message const& m, debt_id of, std::vector<std::byte>& out);
  void deliver(int from, role::steal_message const& m, std::span<std::byte const> payload);
  void deliver_own() override;
  void accept(debt_id id, std::span<std::byte const> payload);
  void set_apart(loan_id number, debt_id of);
  void cut(loan_id number, role::steal_actions& list);
  void lend_again(role::steal::lend_again const& what);
  void pack_loan(loan_id number, debt_id of, std::vector<std::byte>& out);
  void settle(debt_id id, std::span<std::byte const> payload);
  void complete();
  void fail_task(std::string text);
  void run_slices(unsigned thread, quantum& q);
  void gather(debt_id id);
  void gather_from(thread_state& t, debt_id id);
  void check_dry();
  void check_quiet();
  void serve();
  void retry_when_due();
  void share_bound();
  // Checkpoints.
  void open_store();
  void add(debt& to, steal_statement const& s);
  void add_sum(merged_result& to, steal_statement const& s);
  [[nodiscard]] steal_statement statement_of(debt_id id);
  [[nodiscard]] bool leave_copy(thread_state& t, debt_id id);
  void state_if_due();
  void state_suspects();
  void record();

  steal_work& work_;
  schedule::stealing how_;
  ring_steal_options options_;
  merged_result& total_;

  role::steal_member role_;
  std::map<debt_id, debt> debts_;
  std::map<loan_id, loan> lent_;
  loopback<role::steal_message> to_self_;

  std::vector<thread_state> state_;
  unsigned running_ = 0;             // threads inside tasks
  std::atomic<bool> wanted_{false};  // a thief waits
  double thieves_since_ = -1;
  double backoff_ = 0;
  double retry_at_ = -1;

  std::atomic<std::uint64_t>* const bound_;  // of the tasks on this rank; null: the job has none
  double spread_at_ = 0;                     // when the role may pass on the next one

  std::unique_ptr<steal_recorder> recorder_;  // on the root, with checkpoints
  bool stating_ = false;                      // statements are due
  double state_at_ = 0;                       // when the next ones are due

  std::uint64_t steals_ = 0;                // of the other ranks; on the root
  std::uint64_t taken_back_ = 0;            // of the other ranks; on the root
  std::vector<std::uint64_t> tasks_heard_;  // per rank, on the root
  std::uint64_t tasks_told_ = 0;
};

}  // namespace skel::detail
