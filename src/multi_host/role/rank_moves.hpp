// Moves ranks without work: they help another group, or lead the end of its share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "multi_host/role/group_hosts.hpp"
#include "multi_host/role/group_table.hpp"

namespace skel::role {

/// Sends free ranks to groups in proportion to their remaining work, asks hosts to split their shares for
/// them, and keeps a worker in each group with work left.
class rank_moves {
 public:
  rank_moves() = default;
  explicit rank_moves(group_root_config const& config)
      : reassigns_(config.measures.reassigns), splits_(config.measures.splits) {}

  void move_free_ranks(group_table& table, bool may_split, group_actions& out);
  /// Suspects need a rank other than the host. `may_move`: an idle rank may join the group for them.
  void employ_for_suspects(group_table& table, bool may_move, group_actions& out);
  /// A host itself works if its group has no workers.
  static void employ_hosts(group_table& table, group_actions& out);
  /// The host of group `g` gives up the end of its share.
  void cut_share(group_table& table, group_hosts& hosts, int g, group_msg::let_go const& m,
                 group_actions& out);

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

}  // namespace skel::role
