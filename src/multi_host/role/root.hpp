// The root of a multi_host call: assigns ranks and units to groups, and knows when all results are here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "multi_host/role/group_hosts.hpp"
#include "multi_host/role/group_table.hpp"
#include "multi_host/role/host.hpp"
#include "multi_host/role/member.hpp"

namespace skel::role {

/// Sends free ranks to groups in proportion to their remaining work, asks hosts to split their shares for
/// them, and keeps a member in each group with work left.
class rank_moves {
 public:
  rank_moves() = default;
  explicit rank_moves(group_root_config const& config)
      : reassigns_(config.measures.reassigns), splits_(config.measures.splits) {}

  void move_free_ranks(group_table& table, bool may_split, group_actions& out);
  /// Suspects need a rank other than the host. `may_move`: an idle rank may join the group for them.
  void employ_for_suspects(group_table& table, bool may_move, group_actions& out);
  /// A host itself works if its group has no members.
  static void employ_hosts(group_table& table, group_actions& out);
  /// The host of group `g` gives up the end of its share.
  void cut_share(group_table& table, group_hosts& hosts, int g, group::let_go const& m, group_actions& out);

  /// Number of free ranks that are not sent to groups that would take them.
  [[nodiscard]] int orphans(group_table const& table) const;
  [[nodiscard]] std::uint64_t reassigned() const { return reassigned_; }
  [[nodiscard]] std::uint64_t split() const { return split_; }

 private:
  [[nodiscard]] std::vector<rank_id> free_ranks(group_table const& table) const;
  [[nodiscard]] bool splits(group_table const& table, int g, std::span<rank_id const> comers) const;
  void found_group(group_table& table, group_hosts& hosts, std::uint64_t most_ranks, group_actions& out);

  bool reassigns_ = true;
  bool splits_ = true;
  std::uint64_t reassigned_ = 0;
  std::uint64_t split_ = 0;
};

/// The root alone assigns ranks: it updates its record and sends an order, without asking for consent. A
/// rank that is moved twice obeys the last order. After every event, the root checks the whole record, so
/// no rank is forgotten: it appoints a host for each share without a living one, moves idle ranks to groups
/// in proportion to their remaining work, and keeps a member in each group with work left. In [Bajaj93, §5.2]
/// groups moved their nodes themselves, which led to deadlock and orphans.
///
/// Events append their actions to `out`. Relies on the wire contract.
class group_root {
 public:
  group_root() = default;
  explicit group_root(group_root_config const& config)
      : config_(config), table_(config), hosts_(config), moves_(config) {}

  void begin(group_actions& out) { advance(out); }
  /// The trial has measured the cost of units: groups have this size from now on.
  void measured(unsigned group_size, group_actions& out);
  void on(rank_id from, call_message const& m, group_actions& out);
  void on(rank_id from, group::loaded const& m, group_actions& out);
  void on(rank_id from, group::opens const& m, group_actions& out);
  void on(rank_id from, group::left const& m, group_actions& out);
  void on(rank_id from, group::unit_done const& m, group_actions& out);
  void on(rank_id from, group::let_go const& m, group_actions& out);
  void on(rank_id from, group::retires const& m, group_actions& out);
  /// A message from this rank: if it was declared dead, it is alive.
  void heard(rank_id rank, group_actions& out);
  void lost(rank_id rank, group_actions& out);
  void from_outside(rank_id rank) { hosts_.suspects().from_outside(rank); }
  void tick(group_actions& out);

  [[nodiscard]] bool complete() const { return table_.recorded() == config_.units; }
  [[nodiscard]] bool on_trial() const { return trial_; }
  /// The groups as they were formed.
  [[nodiscard]] std::vector<group_plan> const& plan() const { return plan_; }
  /// Number of moves of ranks whose group had nothing left.
  [[nodiscard]] std::uint64_t reassigned() const { return moves_.reassigned(); }
  /// Number of shares whose end went to a new group.
  [[nodiscard]] std::uint64_t split() const { return moves_.split(); }
  /// Number of shares that another rank took over from a lost host.
  [[nodiscard]] std::uint64_t taken_over() const { return hosts_.taken_over(); }
  /// Number of units whose results a rank remembered.
  [[nodiscard]] std::uint64_t recalled() const { return recalled_; }
  /// Number of living ranks in no group, or in a group with nothing left, although another group would take
  /// them. Always 0 between events: there are no orphans.
  [[nodiscard]] int orphans() const;
  /// Describes what the root waits for, for error reports.
  [[nodiscard]] std::string waits_for() const;
  auto fields() const { return std::tie(table_, hosts_, formed_, trial_); }

 private:
  [[nodiscard]] bool ready() const;
  void form(group_actions& out);
  void divide(unsigned size);
  void join(unsigned size, group_actions& out);
  void advance(group_actions& out);

  group_root_config config_;
  group_table table_;
  group_hosts hosts_;
  rank_moves moves_;
  std::vector<group_plan> plan_;
  std::uint64_t recalled_ = 0;
  bool formed_ = false;
  bool trial_ = false;
};

/// Passes a message to the roles that answer it. The caller passes it to the roll call first. `root` is null
/// except on the root while the run goes on.
inline void route(rank_id from, group_message const& m, group_root* root, group_host& host,
                  group_member& member, group_actions& out) {
  if (root != nullptr) root->heard(from, out);
  std::visit(
      [&](auto const& x) {
        if constexpr (requires { host.on(from, x, out); }) host.on(from, x, out);
        if constexpr (requires { member.on(from, x, out); }) member.on(from, x, out);
        if constexpr (requires { root->on(from, x, out); })
          if (root != nullptr) root->on(from, x, out);
      },
      m);
}

}  // namespace skel::role
