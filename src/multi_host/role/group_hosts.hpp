// Appoints the hosts of groups, and assigns units to them.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "multi_host/role/group_table.hpp"
#include "multi_host/role/unit_suspects.hpp"

namespace skel::role {

/// Keeps a host for each share. A host gets the units of its share in order, up to the next suspect; a
/// suspect is led alone, and by the root only if no other rank lives. A regular value.
class group_hosts {
 public:
  group_hosts() = default;
  explicit group_hosts(group_root_config const& config) : suspects_(config) {}

  /// Appoints the planned leaders. `waits`: hosts hand out no pieces before each has read its first unit.
  void begin(group_table& table, std::vector<group_plan> const& plan, bool waits, group_actions& out);
  /// Sends the group's host the units that it leads now.
  void lead(group_table& table, int g, group_actions& out);
  /// Once all units assigned to a host are recorded, it gets those that follow.
  void lead_on(group_table& table, group_actions& out);
  void appoint(group_table& table, int g, rank_id r, group_actions& out);
  void appoint_where_missing(group_table& table, group_actions& out);
  /// Lets hosts hand out pieces once each has read its first unit.
  void maybe_go(group_table const& table, group_actions& out);

  [[nodiscard]] unit_suspects& suspects() { return suspects_; }
  [[nodiscard]] unit_suspects const& suspects() const { return suspects_; }
  /// Whether hosts may hand out pieces.
  [[nodiscard]] bool gone() const { return gone_; }
  [[nodiscard]] std::uint64_t taken_over() const { return taken_over_; }
  friend bool operator==(group_hosts const&, group_hosts const&) = default;
  auto fields() const { return std::tie(suspects_, gone_); }

 private:
  [[nodiscard]] rank_id candidate(group_table const& table, int g) const;

  unit_suspects suspects_;
  term_id terms_ = 0;
  std::uint64_t taken_over_ = 0;
  bool gone_ = false;
};

}  // namespace skel::role
