// Appoints the hosts of groups, and assigns units to them.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "multi_host/role/group_table.hpp"
#include "protocol/call_message.hpp"
#include "protocol/suspects.hpp"

namespace skel::role {

/// Reading such a unit, or processing one of its pieces, may have killed the host. The next host gets one
/// suspect at a time, and another once its results are recorded. A unit that kills one host after another is
/// blamed (protocol/suspects.hpp).
class unit_suspects {
 public:
  unit_suspects() = default;
  explicit unit_suspects(group_root_config const& config)
      : on_(config.most_losses > 0),
        most_open_(config.read_ahead + std::uint64_t{2}),
        units_(config.most_losses) {}

  void from_outside(rank_id rank) { units_.from_outside(rank); }
  /// A rank is lost; called again on every tick while it is.
  void lost(rank_id rank) { units_.lost(rank); }
  /// Suspects the units that this rank had open when it was lost.
  void add_units_of(rank_id host, group_table const& table);
  void acquit(std::uint64_t unit) { units_.acquit(unit); }
  void given(std::uint64_t unit, rank_id to) { units_.given(unit, to); }
  void tick() { units_.end_losses(); }
  /// Called on every tick with suspects: the unit to blame, if any.
  [[nodiscard]] std::optional<blamed> verdict();

  [[nodiscard]] bool empty() const { return units_.empty(); }
  [[nodiscard]] bool contains(std::uint64_t unit) const { return units_.contains(unit); }
  [[nodiscard]] bool blames(std::uint64_t unit) const { return units_.blames(unit); }
  auto fields() const { return std::tie(units_, verdict_ticks_); }

 private:
  bool on_ = true;
  std::uint64_t most_open_ = 3;  // units of a host
  suspects<std::uint64_t> units_;
  unsigned verdict_ticks_ = 0;
};

/// Keeps a host for each share. A host gets the units of its share in order, up to the next suspect; a
/// suspect is led alone, and by the root only if no other rank lives.
class group_hosts {
 public:
  group_hosts() = default;
  explicit group_hosts(group_root_config const& config) : suspects_(config), skips_(config.recalled) {}

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
  auto fields() const { return std::tie(suspects_, gone_); }

 private:
  [[nodiscard]] rank_id candidate(group_table const& table, int g) const;

  unit_suspects suspects_;
  bool skips_ = false;  // units with results; otherwise these are few, and reading anew may cost more
  term_id terms_ = 0;
  std::uint64_t taken_over_ = 0;
  bool gone_ = false;
};

}  // namespace skel::role
