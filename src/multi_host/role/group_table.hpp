// The root's record of groups, ranks, and units with results.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "multi_host/role/groups.hpp"
#include "multi_host/role/message.hpp"
#include "protocol/by_rank.hpp"
#include "protocol/leave_request.hpp"
#include "protocol/task_set.hpp"

namespace skel::role {

/// Measures against idle ranks.
struct group_measures {
  bool reassigns = true;   ///< ranks of finished groups move to others
  bool splits = true;      ///< moved ranks may lead whole units, if enough are left
  bool hosts_help = true;  ///< hosts process pieces, too
  bool preloads = false;   ///< hosts hand out pieces once every host has read its first unit
};

struct group_root_config {
  int ranks = 1;  ///< rank 0 is the root
  std::uint64_t units = 0;
  unsigned group_size = 1;      ///< 0: as small as possible until measured()
  std::vector<double> power{};  ///< per rank; empty: all alike
  bool measures_power = false;  ///< wait until every rank has sent its power with its hello
  group_measures measures{};
  /// A group with at most this many thousandths of a unit left takes no ranks from others.
  std::uint64_t left_alone = default_left_alone;
  double sink_cost = 0;      ///< per unit on the root, as a share of the time to read and process it
  unsigned read_ahead = 1;   ///< of hosts: at most read_ahead + 2 units are open
  unsigned most_losses = 2;  ///< of hosts with the same unit open, before it is blamed; 0: never
  /// Ranks may have results of units already, which they send under term 0 before they say hello: wait until
  /// every rank has, and let hosts read only the other units.
  bool recalled = false;
};

inline constexpr int no_group = -1;
inline constexpr rank_id no_rank = -1;

/// The units assigned to a group's host.
struct units_led {
  std::uint64_t end = 0;
  bool alone = false;   ///< a single unit that was open on lost hosts
  bool opened = false;  ///< the host has started to read it
};

/// The reports of a group's host under its term, and the units that the root has sent to it.
struct host_progress {
  std::uint64_t left = 0;      ///< not handed out, in thousandths of units
  std::uint64_t promised = 0;  ///< ranks that wait for its let_go
  bool loaded = false;         ///< it has read its first unit
  bool suspects = false;       ///< pieces of lost ranks wait
  bool last_resort = false;    ///< its own rank may process them
  bool whole = false;          ///< it gives up no units
};

/// Records which host leads which units, and which rank works for which group.
class group_table {
 public:
  struct entry {
    std::uint64_t first = 0, end = 0;
    std::uint64_t done = 0;  // units recorded
    int ranks = 1;           // as planned
    rank_id host = no_rank;
    term_id term = 0;
    units_led led{};
    host_progress now{};
    [[nodiscard]] bool finished() const { return done == end - first; }
    [[nodiscard]] std::uint64_t missing() const { return (end - first - done) * whole_unit; }
  };
  struct member {
    bool alive = true;
    bool hello = false;
    int group = no_group;  // that it works for
    double power = 1;
    std::uint64_t retires = 0;  // the latest request
    bool leaves = false;        // it is given no more work
  };

  group_table() = default;
  explicit group_table(group_root_config const& config);

  /// Assigns all ranks and all units to the groups of this plan.
  void divide(std::vector<group_plan> const& plan);
  /// Cuts the share of a group in two; the second part is a new group without a host.
  void cut(int g, std::uint64_t where);
  /// Returns false if the unit has been recorded before.
  bool record(std::uint64_t unit);

  [[nodiscard]] int groups() const { return static_cast<int>(groups_.size()); }
  [[nodiscard]] std::vector<entry> const& all() const { return groups_; }
  [[nodiscard]] entry& of(int g) { return groups_[static_cast<std::size_t>(g)]; }
  [[nodiscard]] entry const& of(int g) const { return groups_[static_cast<std::size_t>(g)]; }
  /// The group that a rank leads under this term.
  [[nodiscard]] std::optional<int> led_by(rank_id r, term_id term) const;
  [[nodiscard]] bool hosted(entry const& g) const { return g.host != no_rank && members_[g.host].alive; }
  [[nodiscard]] bool takes_ranks(entry const& g) const;
  [[nodiscard]] std::uint64_t first_unrecorded(entry const& g) const;
  /// Work that a group's host does not know of yet.
  [[nodiscard]] std::uint64_t left_behind(entry const& g) const;
  [[nodiscard]] std::uint64_t recorded() const { return recorded_.count(); }
  [[nodiscard]] bool has_result(std::uint64_t unit) const { return recorded_.contains(unit); }
  /// The living ranks that work for a group.
  [[nodiscard]] std::vector<rank_id> working_for(int g) const;

  [[nodiscard]] by_rank<member>& members() { return members_; }
  [[nodiscard]] by_rank<member> const& members() const { return members_; }
  /// The unfinished group that a rank leads.
  [[nodiscard]] int leads(rank_id r) const;
  [[nodiscard]] bool free_to_move(rank_id r) const;
  [[nodiscard]] bool others_live() const;
  [[nodiscard]] double power(rank_id r) const;
  [[nodiscard]] double power(std::span<rank_id const> ranks) const;
  [[nodiscard]] bool hosts_help() const { return hosts_help_; }

  /// Sends the rank its host, and the term whose work it need not finish.
  void order(rank_id r, term_id ended, group_actions& out) const;
  /// Lets the rank work for another group from now on.
  void move(rank_id r, int g, group_actions& out);
  /// A rank that is to leave leaves its group, unless it leads one.
  void let_go(rank_id r, group_actions& out);
  auto fields() const { return std::tie(groups_, members_, recorded_); }

 private:
  [[nodiscard]] std::uint64_t recorded_of(entry const& g) const;

  bool hosts_help_ = true;
  std::uint64_t left_alone_ = default_left_alone;
  double sink_cost_ = 0;
  std::vector<entry> groups_;
  by_rank<member> members_;
  task_set recorded_;
};

}  // namespace skel::role
