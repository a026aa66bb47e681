// ring_steal's roles in a world of peers (peer_world.hpp): random trees, of which every node must be counted
// once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ring_steal/role/stealer.hpp"
#include "role/peer_world.hpp"

namespace steal_harness {

namespace role = skel::role;

using event = harness_common::peer_event;
using harness_common::exploration;
using harness_common::require;
using harness_common::summary;
using harness_common::violation;

/// `failing` is a node that throws.
struct scenario : harness_common::peer_scenario {
  std::vector<int> parent;  // of node i; -1 for the first, and parent[i] < i
  bool half = true;         // a loan takes half of what waits; otherwise one task
  skel::ring_order order = skel::ring_order::successors;
  bool records = false;  // checkpoints
  std::uint64_t statements = 0;
  std::optional<int> poison;  // a node that ends the rank that runs it
  bool last_words = true;     // and all that this rank has sent is heard
  unsigned most_losses = 2;
  /// For an exploration: a rank keeps its last task, as the engine does, so that every run has a last state;
  /// and an early stop is an event like others.
  bool explored = false;
  [[nodiscard]] std::string describe() const;
};

using counts = std::vector<std::uint8_t>;  // per node of the tree

/// A result so far, and tasks that are left, the oldest first: of a debt, a loan, or the whole run.
struct statement {
  std::vector<int> tasks;
  counts result;
  void add_to(role::digest& d) const;
};

struct packet {
  role::steal_message what;
  statement body;
  int lender = 0;  // of a loan that is received
  int begun = 0;   // of a loan, when this statement was made
  void add_to(role::digest& d) const { body.add_to(d); }
};

struct loan {
  role::debt_id of = 0;
  std::vector<int> lent;
  statement worth;
  int borrower = 0;
  role::loan_id origin = 0;    // the name under which it is blamed
  int begun = 0;               // how often its borrowers have turned to it,
  int cleared = 0;             // and when the latest statement was made
  std::vector<int> watched{};  // ranks that were lost then
};

struct debt : statement {
  int lender = 0;
  role::loan_id number = 0;  // the lender's
  bool changed = false;      // since it was stated
};

struct node : harness_common::peer_node {
  role::stealer role;
  std::map<role::debt_id, debt> debts;  // what waits, and the result so far
  std::map<role::loan_id, loan> lent;
  std::optional<std::pair<role::debt_id, int>> running;
  std::uint64_t ran = 0;
  counts result;
  [[nodiscard]] bool runs(role::debt_id debt) const { return running && running->first == debt; }
  void add_to(role::digest& d) const;
};

/// What an engine may do wrong with statements.
enum class slip : std::uint8_t {
  leaves_out_what_runs,
  leaves_out_what_is_lent,
  states_what_is_lent_as_it_was,  // beside the results that its borrower has stated
  takes_back_what_was_lent,       // beside the stated result
  forgets_a_stated_result,        // when it takes the tasks back
  takes_lent_for_begun,           // before the borrower says so
};

class world final : public harness_common::peer_world<scenario, node, packet, role::steal_actions> {
 public:
  struct fault : peer_world::fault {
    virtual bool slips(slip) { return false; }
  };
  explicit world(scenario const& s, fault* f = nullptr);
  /// Loans that were taken back.
  [[nodiscard]] std::uint64_t again() const;
  /// A loan is blamed for lost ranks.
  [[nodiscard]] bool blamed() const { return blamed_; }
  /// Ranks that the poison has ended.
  [[nodiscard]] int poisoned() const { return poisoned_; }
  /// Those of them that had lent something: their own lenders begin to count.
  [[nodiscard]] int lenders_poisoned() const { return lenders_poisoned_; }
  /// Whether all that this rank has sent is delivered.
  [[nodiscard]] bool is_silent(int rank) const;

 private:
  void begin(int rank) override;
  void receive(int from, int to, packet& p) override;
  void hear_lost(int rank, int peer) override;
  void hear_tick(int rank) override;
  void please_stop(int rank) override;
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
  void lend_again(int rank, role::steal::lend_again const& what);
  void check_last_record() const;
  [[nodiscard]] std::uint64_t ran() const;
  [[nodiscard]] counts none() const { return counts(scenario_->parent.size()); }
  [[nodiscard]] statement state(int rank, role::debt_id debt) const;
  [[nodiscard]] counts value(statement const& s) const;
  [[nodiscard]] bool slips(slip which) const { return slips_ != nullptr && slips_->slips(which); }

  std::shared_ptr<std::vector<std::vector<int>> const> children_;
  fault* slips_ = nullptr;
  counts total_;
  std::optional<statement> recorded_;  // the root's latest: a job may be started again from it at any moment
  std::uint64_t tasks_ = 0, statements_ = 0;
  int poisoned_ = 0, lenders_poisoned_ = 0;
  bool blamed_ = false, root_poisoned_ = false;
};

using fault = world::fault;

[[nodiscard]] scenario random_scenario(std::uint64_t seed);
/// At least one death.
[[nodiscard]] scenario death_scenario(std::uint64_t seed);
/// With a node that ends the rank that runs it.
[[nodiscard]] scenario poison_scenario(std::uint64_t seed);
/// Throws violation with the seed that replays it.
summary run(scenario const& s, fault* f = nullptr);

}  // namespace steal_harness
