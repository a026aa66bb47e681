// Runs multi_host's roles in a world of peers (peer_world.hpp). Tests check that every piece of every unit
// reaches the sink once, with the right result, and that no rank is forgotten.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "multi_host/role/root.hpp"
#include "protocol/peer_world.hpp"

namespace group_harness {

namespace role = skel::role;
using role::piece_run;
using role::term_id;

using event = harness_common::peer_event;
using harness_common::exploration;
using harness_common::require;
using harness_common::summary;
using harness_common::violation;

/// The cut data of a piece, and its result.
constexpr std::uint64_t cut_of(std::uint64_t unit, std::uint64_t piece) { return unit * 1000 + piece; }
constexpr std::uint64_t result_of(std::uint64_t cut) { return cut * 7 + 3; }

struct scenario : harness_common::peer_scenario {
  std::uint64_t units = 3;
  std::uint64_t most_pieces = 3;  // per unit; some units have fewer, or none
  unsigned group_size = 2;        // 0: found during the run
  unsigned threads = 1;
  unsigned read_ahead = 1;
  std::uint64_t results_level = 0;
  std::uint64_t left_alone = role::default_left_alone;
  unsigned most_losses = 2;
  std::optional<role::piece_name> deadly_piece;  // kills each rank that processes it, except the root
  std::optional<std::uint64_t> deadly_unit;      // kills each rank that reads it, except the root
  int retirements = 0;                           // how often a rank is to leave, or stays after all
  bool last_words = true;                        // messages of such a rank arrive
  bool reassigns = true, splits = true, hosts_help = true, preloads = false, uneven = false,
       slow_delivery = false;
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] std::string describe_deadly() const;
  [[nodiscard]] std::uint64_t pieces(std::uint64_t unit) const;
  [[nodiscard]] bool is_deadly() const { return deadly_piece || deadly_unit; }
};

using results = std::vector<std::uint64_t>;

struct packet {
  role::group_message what;
  results cargo;  // cut pieces, or results
  void add_to(role::digest&) const {}
};

struct job {
  enum class kind : std::uint8_t { read, process, take } what = kind::read;
  term_id term = 0;
  role::packet_id id = 0;
  piece_run pieces{};
  bool fresh = false;
  bool alone = false;
  std::uint64_t ready = 0;
};

struct node : harness_common::peer_node {
  role::group_member member;
  role::group_host host;
  std::vector<job> waiting, running;
  bool retires = false;
  // The state of a group's host.
  std::map<std::uint64_t, std::uint64_t> units;  // available pieces
  std::map<std::uint64_t, std::vector<std::optional<std::uint64_t>>> kept;
  std::optional<std::uint64_t> carried;  // the unit read last
  std::uint64_t share_end = 0;           // from the latest lead or let_go
  // The state of a member.
  std::map<role::packet_id, std::pair<term_id, std::vector<std::uint64_t>>> packets;
  std::map<role::packet_id, std::uint64_t> first_of;
  std::set<role::packet_id> suspects;  // packets with a piece of lost ranks
  bool suspect_arrives = false;
  // By term, unit and piece; twice if a host declared this rank dead and handed out the same piece again.
  std::multimap<std::array<std::uint64_t, 3>, std::uint64_t> done;
  void add_to(role::digest& d) const;
};

class world final : public harness_common::peer_world<scenario, node, packet, role::group_actions> {
 public:
  explicit world(scenario const& s, fault* f = nullptr);
  /// Number of pieces taken back and of shares taken over.
  [[nodiscard]] std::uint64_t again() const { return again_; }
  [[nodiscard]] std::uint64_t split() const { return root_role_.split(); }
  [[nodiscard]] std::uint64_t reassigned() const { return root_role_.reassigned(); }
  /// Whether the run ended because work was blamed.
  [[nodiscard]] bool blamed() const { return at(0).how && blames(*at(0).how); }
  /// Number of ranks that died of deadly work.
  [[nodiscard]] int killed() const { return killed_; }
  /// Whether the root took the deadly work, which it survives.
  [[nodiscard]] bool root_met_it() const { return root_met_it_; }
  /// Number of units read; a unit read twice counts twice.
  [[nodiscard]] std::uint64_t reads() const { return reads_; }
  /// Number of ranks that have retired.
  [[nodiscard]] int left() const { return left_; }

 private:
  void begin(int rank) override;
  void receive(int from, int to, packet& p) override;
  void hear_lost(int rank, int peer) override;
  void hear_tick(int rank) override;
  void please_stop(int rank) override;
  void send(int rank, int to, role::group_message const& what) override;
  void follow_up(int rank) override;
  void add_own(int rank, std::vector<event>& all) const override;
  void apply_own(event const& e) override;
  [[nodiscard]] std::uint64_t most_events() const override;
  [[nodiscard]] std::string waits_for() const override {
    return "the root waits for " + root_role_.waits_for();
  }
  void check() const override;
  void check_done() const override;
  [[nodiscard]] bool may_blame(role::outcome const& how) const override;
  void add_to(role::digest& d) const override { d.add(root_role_); }

  void finish(int rank, int which);
  [[nodiscard]] bool is_deadly(job const& j) const;
  [[nodiscard]] static bool blames(role::outcome const& how);
  void kill(int rank);
  void retire(int rank);
  [[nodiscard]] bool all_heard(int rank) const;
  void start_jobs(int rank);
  void perform(int rank, role::group_actions& list, results const& cargo = {});
  void perform_one(int rank, role::group_action const& action, results const& cargo, std::size_t& used);
  void perform_for_host(int rank, role::group_action const& action, results const& cargo, std::size_t& used);
  void attach(int rank, packet& p);
  void record(std::uint64_t unit, results const& cargo);
  void check_no_orphan() const;

  role::group_root root_role_;
  std::map<std::uint64_t, results> sunk_;
  std::set<std::uint64_t> begun_;  // units that a rank has started to read
  std::uint64_t reads_ = 0, again_ = 0;
  bool started_ = false;
  int killed_ = 0, retirements_ = 0, left_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> runs_;  // of each piece
  bool root_met_it_ = false;
};

using fault = world::fault;

[[nodiscard]] scenario random_scenario(std::uint64_t seed);
/// Draws a scenario with at least one death.
[[nodiscard]] scenario death_scenario(std::uint64_t seed);
/// Draws a scenario in which ranks retire, without other trouble.
[[nodiscard]] scenario retirement_scenario(std::uint64_t seed);
/// Draws a scenario with a piece or a unit that kills each rank that processes or reads it.
[[nodiscard]] scenario deadly_scenario(std::uint64_t seed);
/// Throws violation, with the seed that replays the run.
summary run(scenario const& s, fault* f = nullptr);

}  // namespace group_harness
