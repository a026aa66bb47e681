// The root's record of groups: members, hosts, and completed units.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "multi_host/role/action.hpp"
#include "multi_host/role/groups.hpp"
#include "role/by_rank.hpp"
#include "role/membership.hpp"
#include "role/suspects.hpp"
#include "role/task_set.hpp"

namespace skel::role {

struct group_root_config {
  int ranks = 1;  ///< rank 0 is the root
  std::uint64_t units = 0;
  unsigned group_size = 1;      ///< 0: as small as possible until measured()
  std::vector<double> power{};  ///< per rank; empty: all alike
  bool measures_power = false;  ///< wait until every rank has sent its power with its hello
  bool reassigns = true;        ///< ranks of finished groups move to others
  bool splits = true;           ///< moved ranks may lead whole units, if enough are left
  bool hosts_help = true;       ///< hosts process pieces, too
  bool preloads = false;        ///< hosts hand out pieces once every host has read its first unit
  /// A group with at most this many thousandths of a unit left takes no ranks from others.
  std::uint64_t left_alone = default_left_alone;
  double sink_cost = 0;      ///< per unit on the root, as a share of the time to read and process it
  unsigned read_ahead = 1;   ///< of hosts: at most read_ahead + 2 units are open
  unsigned most_losses = 2;  ///< of hosts with the same unit open, before it is blamed; 0: never
  friend bool operator==(group_root_config const&, group_root_config const&) = default;
};

/// The root alone assigns ranks: it updates its record and sends an order, without asking for consent. A
/// rank that is moved twice obeys the last order. After every event, the root checks the whole record, so
/// no rank is forgotten: it appoints a host for each share without a living one, moves idle ranks to groups
/// in proportion to their remaining work, and keeps a worker in each group with work left. In [Bajaj93, §5.2]
/// groups moved their nodes themselves, which led to deadlock and orphans.
///
/// Units that were open on a lost host are suspects: reading one of them, or processing one of its pieces,
/// may have killed the host. The next host gets one suspect at a time, and another once its results are
/// recorded. A unit that kills one host after another is blamed (role/suspects.hpp).
///
/// A regular value; events append their actions to `out`. Relies on the wire contract.
class group_root {
 public:
  group_root() = default;
  explicit group_root(group_root_config config);

  void begin(group_actions& out);
  /// The trial has measured the cost of units: groups have this size from now on.
  void measured(unsigned group_size, group_actions& out);
  void on(rank_id from, hello const& m, group_actions& out);
  void on(rank_id from, group_msg::loaded const& m, group_actions& out);
  void on(rank_id from, group_msg::opens const& m, group_actions& out);
  void on(rank_id from, group_msg::left const& m, group_actions& out);
  void on(rank_id from, group_msg::unit_done const& m, group_actions& out);
  void on(rank_id from, group_msg::let_go const& m, group_actions& out);
  /// A message from this rank: if it was declared dead, it is alive.
  void heard(rank_id rank, group_actions& out);
  void lost(rank_id rank, group_actions& out);
  void from_outside(rank_id rank) { suspects_.from_outside(rank); }
  void tick(group_actions& out);

  [[nodiscard]] bool complete() const { return recorded_.count() == config_.units; }
  [[nodiscard]] std::uint64_t recorded() const { return recorded_.count(); }
  [[nodiscard]] bool on_trial() const { return trial_; }
  /// The groups as they were formed.
  [[nodiscard]] std::vector<group_plan> const& plan() const { return plan_; }
  /// Number of moves of ranks whose group had nothing left.
  [[nodiscard]] std::uint64_t reassigned() const { return reassigned_; }
  /// Number of shares whose end went to a new group.
  [[nodiscard]] std::uint64_t split() const { return split_; }
  /// Number of shares that another rank took over from a lost host.
  [[nodiscard]] std::uint64_t taken_over() const { return taken_over_; }
  /// The host that `rank` works for; empty for a rank without work.
  [[nodiscard]] std::optional<rank_id> works_for(rank_id rank) const;
  /// Number of living ranks in no group, or in a group with nothing left, although another group would take
  /// them. Always 0 between events: there are no orphans.
  [[nodiscard]] int orphans() const;
  /// Describes what the root waits for, for error reports.
  [[nodiscard]] std::string waits_for() const;
  friend bool operator==(group_root const&, group_root const&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  static constexpr int none = -1;
  struct group {
    std::uint64_t first = 0, end = 0;
    int ranks = 1;  // as planned
    rank_id host = none;
    term_id term = 0;
    std::uint64_t left = 0;  // not handed out, in thousandths of units, as the host reports
    std::uint64_t done = 0;  // units recorded
    bool loaded = false;
    std::uint64_t led_to = 0;    // the end of the units assigned to its host
    bool alone = false;          // they are a single unit that was open on lost hosts
    bool opened = false;         // its host has started to read it
    bool suspects = false;       // pieces of lost ranks wait
    bool last_resort = false;    // the host's own rank may process them
    std::uint64_t promised = 0;  // ranks that wait for the host's let_go
    bool whole = false;          // its host gives up no units
    friend bool operator==(group const&, group const&) = default;
  };
  struct member {
    bool alive = true;
    bool hello = false;
    int group = none;  // that it works for
    double power = 1;
    friend bool operator==(member const&, member const&) = default;
  };

  [[nodiscard]] group& of(int g) { return groups_[static_cast<std::size_t>(g)]; }
  [[nodiscard]] group const& of(int g) const { return groups_[static_cast<std::size_t>(g)]; }
  [[nodiscard]] int groups() const { return static_cast<int>(groups_.size()); }
  [[nodiscard]] bool finished(group const& g) const { return g.done == g.end - g.first; }
  [[nodiscard]] bool hosted(group const& g) const { return g.host != none && members_[g.host].alive; }
  [[nodiscard]] bool takes_ranks(group const& g) const;
  /// The unfinished group that a rank leads.
  [[nodiscard]] int leads(rank_id r) const;
  [[nodiscard]] bool free_to_move(rank_id r) const;
  [[nodiscard]] int workers(int g) const;
  [[nodiscard]] std::uint64_t first_unrecorded(group const& g) const;
  void form(group_actions& out);
  void divide(unsigned size);
  void join(unsigned size, group_actions& out);
  void advance(group_actions& out);
  void appoint_where_missing(group_actions& out);
  [[nodiscard]] rank_id candidate(int g) const;
  void appoint(int g, rank_id r, group_actions& out);
  void lead(group& g, group_actions& out);
  void lead_on(group_actions& out);
  void cut(int g, std::uint64_t where);
  [[nodiscard]] bool others_live() const;
  void suspect_units_of(rank_id host);
  void employ_for_suspects(group_actions& out);
  void allow_last_resort(group& g, bool allowed, group_actions& out) const;
  [[nodiscard]] rank_id helper_for(int g) const;
  [[nodiscard]] std::uint64_t recorded_of(group const& g) const;
  [[nodiscard]] std::vector<rank_id> free_ranks() const;
  [[nodiscard]] std::uint64_t promised() const;
  [[nodiscard]] double power_of(rank_id r) const;
  [[nodiscard]] double power_of(std::span<rank_id const> ranks) const;
  [[nodiscard]] double power_at(int g) const;
  [[nodiscard]] bool may_split(int g, std::span<rank_id const> comers) const;
  void move_free_ranks(group_actions& out);
  void ask_to_split(int g, std::span<rank_id const> comers, group_actions& out);
  void cut_share(int g, group_msg::let_go const& m, group_actions& out);
  void found_group(int g, std::uint64_t most_ranks, group_actions& out);
  void employ_hosts(group_actions& out);
  void order(rank_id r, term_id ended, group_actions& out) const;
  void maybe_go(group_actions& out);
  [[nodiscard]] group* led_by(rank_id r, term_id term);

  group_root_config config_;
  std::vector<group> groups_;
  by_rank<member> members_;
  std::vector<group_plan> plan_;
  task_set recorded_;
  suspects<std::uint64_t> suspects_;
  membership lost_;
  unsigned verdict_ticks_ = 0;
  term_id terms_ = 0;
  std::uint64_t reassigned_ = 0;
  std::uint64_t split_ = 0;
  std::uint64_t taken_over_ = 0;
  bool formed_ = false;
  bool trial_ = false;
  bool gone_ = false;  // hosts may hand out pieces
};

}  // namespace skel::role
