// Divide-and-conquer's roles in a world of peers (peer_world.hpp). A solution is the text of its combination
// tree, so a test can check that each part occurs once and in the right place.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "divide_and_conquer/role/member.hpp"
#include "divide_and_conquer/role/root.hpp"
#include "protocol/peer_world.hpp"

namespace divide_harness {

namespace role = skel::role;
using role::rank_span;
using skel::division::placement;

using event = harness_common::peer_event;
using harness_common::exploration;
using harness_common::require;
using harness_common::summary;
using harness_common::violation;

struct scenario : harness_common::peer_scenario {
  placement from = placement::on_root;
  placement to = placement::everywhere;
  int items = 8;    // the problem consists of the numbers 0 ... items - 1
  int trivial = 1;  // problems of at most this many items are not divided
  unsigned most_losses = 0;
  std::optional<role::group_work> poison{};  // kills any rank that does this work
  [[nodiscard]] std::string describe() const;
};

using items = std::pair<int, int>;

struct packet {
  role::divide_message what;
  items problem{};
  std::string solution;
  void add_to(role::digest& d) const;
};

struct job {
  enum class kind : std::uint8_t { divide, solve, combine } what = kind::divide;
  rank_span group;
  items problem{};
  std::string left{}, right{};
};

struct node : harness_common::peer_node {
  role::divide_member role;
  std::map<rank_span, items> problems;
  std::map<rank_span, std::string> solutions;
  std::vector<job> jobs;
  std::uint64_t calls = 0;
  std::string result;
  void add_to(role::digest& d) const;
};

class world final : public harness_common::peer_world<scenario, node, packet, role::divide_actions> {
 public:
  explicit world(scenario const& s, fault* f = nullptr);
  /// Number of groups whose solution another rank has computed.
  [[nodiscard]] std::uint64_t again() const;
  /// Whether a problem is blamed for lost ranks.
  [[nodiscard]] bool blamed() const { return blamed_; }
  /// Number of ranks the poison has killed, not counting the original owners of the work.
  [[nodiscard]] int poisoned_takers() const { return poisoned_takers_; }

 private:
  void begin(int rank) override;
  void receive(int from, int to, packet& p) override;
  void hear_lost(int rank, int peer) override;
  void hear_tick(int rank) override;
  void please_stop(int rank) override;
  void send(int rank, int to, role::divide_message const& what) override;
  void follow_up(int rank) override;
  void add_own(int rank, std::vector<event>& all) const override;
  void apply_own(event const& e) override;
  [[nodiscard]] std::uint64_t most_events() const override;
  [[nodiscard]] std::string waits_for() const override;
  void check_done() const override;
  [[nodiscard]] bool may_lose_parts() const override;
  [[nodiscard]] bool may_blame(role::outcome const&) const override { return blamed_; }
  [[nodiscard]] bool may_fail() const override { return !at(0).alive; }
  void add_to(role::digest& d) const override { d.add(root_role_).add(blamed_); }

  // Whether only the poison causes losses.
  [[nodiscard]] bool undisturbed() const { return scenario_->deaths == 0 && suspicions_ == 0; }
  void run_poison(int rank);
  void check_blame(role::divide::blame const& b) const;
  [[nodiscard]] bool atomic(items p) const { return p.second - p.first <= scenario_->trivial; }
  [[nodiscard]] std::string expected(rank_span s, items p) const;
  [[nodiscard]] std::string expected_parts(rank_span s, items p) const;
  void perform(int rank, role::divide_actions& list, items problem = {}, std::string const& solution = {});

  role::divide_root root_role_;  // used by the root only
  bool blamed_ = false;
  int poisoned_takers_ = 0;
  std::map<role::group_work, std::set<int>> allowed_{};  // ranks permitted to do the work of lost ranks
};

using fault = world::fault;

[[nodiscard]] scenario random_scenario(std::uint64_t seed);
/// A scenario with at least one death.
[[nodiscard]] scenario death_scenario(std::uint64_t seed);
/// A scenario with work that kills any rank that does it, sometimes with other failures.
[[nodiscard]] scenario poison_scenario(std::uint64_t seed);
/// Runs the scenario. Throws `violation` with the seed that replays it.
summary run(scenario const& s, fault* f = nullptr);

}  // namespace divide_harness
