// Units that were open on lost hosts.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "multi_host/role/group_table.hpp"
#include "protocol/call_message.hpp"
#include "protocol/membership.hpp"
#include "protocol/suspects.hpp"

namespace skel::role {

/// Reading such a unit, or processing one of its pieces, may have killed the host. The next host gets one
/// suspect at a time, and another once its results are recorded. A unit that kills one host after another is
/// blamed (protocol/suspects.hpp). A regular value.
class unit_suspects {
 public:
  unit_suspects() = default;
  explicit unit_suspects(group_root_config const& config)
      : on_(config.most_losses > 0),
        most_open_(config.read_ahead + std::uint64_t{2}),
        units_(config.most_losses) {}

  void from_outside(rank_id rank) { units_.from_outside(rank); }
  /// A rank is lost; called again on every tick while it is.
  void lost(rank_id rank) { lost_.lost(rank); }
  /// Suspects the units that this rank had open when it was lost.
  void add_units_of(rank_id host, group_table const& table);
  void acquit(std::uint64_t unit) { units_.acquit(unit); }
  void given(std::uint64_t unit, rank_id to) { units_.given(unit, to); }
  void tick();
  /// Called on every tick with suspects: the unit to blame, if any.
  [[nodiscard]] std::optional<blamed> verdict();

  [[nodiscard]] bool empty() const { return units_.empty(); }
  [[nodiscard]] bool contains(std::uint64_t unit) const { return units_.contains(unit); }
  [[nodiscard]] bool blames(std::uint64_t unit) const { return units_.blames(unit); }
  friend bool operator==(unit_suspects const&, unit_suspects const&) = default;
  auto fields() const { return std::tie(units_, lost_, verdict_ticks_); }

 private:
  bool on_ = true;
  std::uint64_t most_open_ = 3;  // units of a host
  suspects<std::uint64_t> units_;
  membership lost_;
  unsigned verdict_ticks_ = 0;
};

}  // namespace skel::role
