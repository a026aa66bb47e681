// ring_steal's roles in a world of peers (peer_world.hpp). The trees are random; every node must be counted
// exactly once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/peer_world.hpp"
#include "ring_steal/role/member.hpp"

namespace steal_harness {

namespace role = skel::role;

using event = harness_common::peer_event;
using harness_common::exploration;
using harness_common::require;
using harness_common::summary;
using harness_common::violation;

/// `failing` is the number of a node that throws.
struct scenario : harness_common::peer_scenario {
  std::vector<int> parent;  // parent[i] is the parent of node i, smaller than i; -1 for the root
  bool half = true;         // a loan takes every other waiting task; otherwise one task
  skel::schedule::ring_order order = skel::schedule::ring_order::successors;
  bool records = false;  // takes checkpoints
  bool bounded = false;  // every node finds a bound
  std::uint64_t statements = 0;
  int retirements = 0;        // how often a rank is asked to leave
  int changes_of_mind = 0;    // how often it is to stay after all
  std::optional<int> poison;  // a node that kills any rank that runs it
  bool last_words = true;     // everything the killed rank has sent is delivered
  unsigned most_losses = 2;
  std::uint64_t most_parcels = 256;
  /// Exhaustive exploration: a rank keeps its last task, as the engine does, so that every run reaches a
  /// final state. An early stop is an ordinary event.
  bool explored = false;
  [[nodiscard]] std::string describe() const;
};

using counts = std::vector<std::uint8_t>;  // how often each node of the tree was counted

/// The result so far and the remaining tasks, oldest first, of a debt, a loan or the whole run.
struct statement {
  std::vector<int> tasks;
  counts result;
};

struct loan {
  role::debt_id of = 0;
  std::vector<int> lent;
  statement worth;
  int borrower = 0;
  role::loan_id origin = 0;    // the number used to blame it
  int begun = 0;               // how often its borrowers have started on it
  int cleared = 0;             // `begun` at the latest statement
  std::vector<int> watched{};  // ranks lost since that statement
  std::vector<int> ran{};      // those of them that were running this loan, and nothing else
};

struct packet {
  role::steal_message what;
  statement body;
  int lender = 0;             // if the packet carries a loan
  int begun = 0;              // the loan's `begun` when this statement was made
  std::vector<loan> parts{};  // loans that another rank inherits
  void add_to(role::digest& d) const {
    d.add(body);
    for (auto const& l : parts) d.add(l.lent).add(l.worth);
  }
};

struct debt : statement {
  int lender = 0;
  role::loan_id number = 0;  // the loan's number on the lender
  bool changed = false;      // since the last statement
};

struct node : harness_common::peer_node {
  role::steal_member role;
  std::map<role::debt_id, debt> debts;  // waiting tasks and the result so far
  std::map<role::loan_id, loan> lent;
  std::optional<std::pair<role::debt_id, int>> running;
  std::uint64_t ran = 0;
  role::bound_key bound = 0;  // the best one so far
  counts result;
  [[nodiscard]] bool runs(role::debt_id debt) const { return running && running->first == debt; }
  void add_to(role::digest& d) const;
};

/// Mistakes an engine may make with statements.
enum class slip : std::uint8_t {
  leaves_out_what_runs,
  leaves_out_what_is_lent,
  states_what_is_lent_as_it_was,  // in addition to the results the borrower has stated
  takes_back_what_was_lent,       // in addition to the stated result
  forgets_a_stated_result,        // on taking the tasks back
  takes_lent_for_begun,           // before the borrower reports it
  takes_asked_for_silent,         // a borrower whose lender leaves
  leaves_unheard,                 // before all have heard
};

class world final : public harness_common::peer_world<scenario, node, packet, role::steal_actions> {
 public:
  struct fault : peer_world::fault {
    virtual bool slips(slip) { return false; }
  };
  explicit world(scenario const& s, fault* f = nullptr);
  /// Number of loans that were taken back.
  [[nodiscard]] std::uint64_t again() const;
  /// Whether a loan is blamed for lost ranks.
  [[nodiscard]] bool blamed() const { return blamed_; }
  /// Number of ranks the poison has killed.
  [[nodiscard]] int poisoned() const { return poisoned_; }
  /// Number of poisoned ranks that had lent tasks. The lender of such a rank starts its own count of losses.
  [[nodiscard]] int lenders_poisoned() const { return lenders_poisoned_; }
  /// Whether everything this rank has sent is delivered, apart from what was sent to ranks that it has lost.
  [[nodiscard]] bool is_silent(int rank) const;
  /// Asks a rank to leave, and applies no other events than messages and the end of its own task. Returns
  /// whether it gets away, or has no call to leave.
  [[nodiscard]] bool gets_away(int rank, std::mt19937_64& dice);

 private:
  void begin(int rank) override;
  void receive(int from, int to, packet& p) override;
  void hear_lost(int rank, int peer) override;
  void hear_tick(int rank) override;
  void please_stop(int rank) override;
  void dies(int rank) override;
  void send(int rank, int to, role::steal_message const& what) override { send(rank, to, what, 0); }
  void follow_up(int rank) override;
  void add_own(int rank, std::vector<event>& all) const override;
  void apply_own(event const& e) override;
  [[nodiscard]] std::uint64_t most_events() const override;
  [[nodiscard]] std::string waits_for() const override;
  void check_done() const override;
  void check_stopped_early() const override;
  void add_to(role::digest& d) const override;

  [[nodiscard]] bool may_fail() const override { return root_poisoned_; }

  void start(int rank);
  void finish(int rank);
  void take_poison(int rank);
  void check_blame(int rank, role::blamed const& b);
  void perform(int rank, role::steal_actions& list, packet* cause = nullptr);
  void send(int rank, int to, role::steal_message const& what, role::debt_id debt);
  void begin_debt(int rank, debt const& d);
  void set_apart(int rank, role::steal::set_apart const& what);
  using loan_name = std::pair<int, role::loan_id>;  // the lender and its number
  /// The loan that a rank runs, or was running when it died.
  [[nodiscard]] loan_name run_by(int rank) const;
  void cut(int rank, role::loan_id number);
  void lend_again(int rank, role::steal::lend_again const& what);
  void restate(int rank, role::steal::restate const& what, packet const& cause);
  void absorb(int rank, role::steal::absorb const& what);
  void hand_over(int rank);
  void count_run(int task);
  [[nodiscard]] bool may_leave(int rank) const;
  void check_last_record() const;
  [[nodiscard]] std::uint64_t ran() const;
  [[nodiscard]] counts none() const { return counts(scenario_->parent.size()); }
  [[nodiscard]] statement state(int rank, role::debt_id debt) const;
  [[nodiscard]] counts value(statement const& s) const;
  [[nodiscard]] bool slips(slip which) const { return slips_ != nullptr && slips_->slips(which); }

  std::shared_ptr<std::vector<std::vector<int>> const> children_;
  fault* slips_ = nullptr;
  counts total_;
  role::bound_key found_ = 0;          // the best bound that any node has found
  std::optional<statement> recorded_;  // the root's latest; a job may restart from it at any time
  std::uint64_t tasks_ = 0, statements_ = 0;
  int poisoned_ = 0, lenders_poisoned_ = 0;
  int retired_ = 0, stayed_ = 0;  // ranks asked to leave, and to stay
  counts runs_;                   // of each node
  std::uint64_t ran_by_leavers_ = 0;
  bool prompt_ = false;           // ranks hand over what they have as soon as they can
  std::map<int, loan_name> ran_;  // by rank, at its death
  bool blamed_ = false, root_poisoned_ = false;
};

using fault = world::fault;

[[nodiscard]] scenario random_scenario(std::uint64_t seed);
/// A scenario with at least one death.
[[nodiscard]] scenario death_scenario(std::uint64_t seed);
/// A scenario with a node that kills any rank that runs it.
[[nodiscard]] scenario poison_scenario(std::uint64_t seed);
/// A scenario in which ranks leave, half of them without other trouble.
[[nodiscard]] scenario retirement_scenario(std::uint64_t seed);
/// Runs the scenario. Throws `violation` with the seed that replays it.
summary run(scenario const& s, fault* f = nullptr);

}  // namespace steal_harness
