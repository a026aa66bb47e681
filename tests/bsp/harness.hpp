// Bsp's roles in a world of peers (peer_world.hpp), over a model of the store. The program mixes a circle of
// cells: in each superstep every rank sends cells and mixes each of its cells with the left neighbour. Who
// sends to whom depends on the scenario's pattern.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bsp/role/member.hpp"
#include "bsp/role/root.hpp"
#include "protocol/peer_world.hpp"

namespace bsp_harness {

namespace role = skel::role;

using event = harness_common::peer_event;
using harness_common::exploration;
using harness_common::require;
using harness_common::summary;
using harness_common::violation;

enum class pattern : std::uint8_t {
  all,      // every rank to every rank, itself included
  ring,     // the last cell to the rank with the next cell: what mixing needs
  changing  // another one in each superstep: all, ring, ring and random others, or no messages
};

struct scenario : harness_common::peer_scenario {
  pattern sends = pattern::all;
  bool neighbours = false;    // the program names them; otherwise the last superstep sends all to the root
  bool all_continue = false;  // with neighbours: all ranks until the last superstep; otherwise some do
  int cells = 3;
  std::uint64_t rounds = 1;   // supersteps that mix; one more ends the run
  bool splits = true;         // the program can split its state for another number of ranks
  std::uint64_t every = 0;    // the root's supersteps per checkpoint; 0: no checkpoints
  int full_disks = 0;         // number of parts that cannot be written
  int lost_commits = 0;       // number of commits that fail
  int damages = 0;            // number of written parts that become unreadable
  int reruns = 0;             // how often the whole job is killed and another one resumes
  int retirements = 0;        // how often a rank is to leave, or stays after all
  bool commits_hang = false;  // no commit ever ends
  unsigned max_losses = 3;    // losses in one superstep that blame it
  // The rank with the last cell dies in this superstep, unless it is the root; ~0: while it restores.
  std::optional<std::uint64_t> poison{};
  static constexpr std::uint64_t restoring = ~std::uint64_t{0};
  [[nodiscard]] std::string describe() const;
};

using values = std::vector<std::uint64_t>;
using numbered = std::map<int, std::uint64_t>;  // cells by number

// A message from one rank to another in a superstep, with its epoch and places.
struct letter {
  std::uint64_t epoch = 0, step = 0;
  std::uint32_t from = 0, to = 0;  // places in the epoch, not ranks
  bool sent = false;               // otherwise only the place of a letter
  numbered cells{};
};

struct packet {
  role::bsp_message what;
  letter content;
  void add_to(role::digest& d) const { d.add(content); }
};

// A rank's state and what it has received.
struct part {
  std::uint64_t step = 0;  // the next superstep
  int first = 0;           // number of its first cell
  values cells{};
  numbered whole{};  // received cells
};

using restore = role::bsp::restore;
using save = role::bsp::save;
using compute = role::bsp::compute;
using letters = std::map<int, letter>;  // by sender

struct job {
  std::variant<restore, save, compute> what;
  // Set when the job starts:
  std::uint32_t place = 0;
  std::vector<int> members{};
  std::optional<letters> came{};
};

struct node : harness_common::peer_node {
  role::bsp_member role;
  role::bsp_root root;  // used by the root only
  bool retires = false;
  part state;
  std::map<std::pair<std::uint64_t, std::uint64_t>, letters> kept;  // by epoch and superstep
  std::vector<letter> outgoing;                                     // letters of the last computed superstep
  std::deque<job> jobs;
  std::optional<job> running;
  std::optional<std::pair<save, part>> writing;
  values result;
  void add_to(role::digest& d) const;
};

struct stored_generation {
  std::uint32_t parts = 0;
  std::uint64_t stamp = 0;
  std::map<std::uint32_t, part> stored{};
  std::set<std::uint32_t> damaged{};
  [[nodiscard]] bool whole() const { return parts > 0 && stored.size() == parts; }
};

class world final : public harness_common::peer_world<scenario, node, packet, role::bsp_actions> {
 public:
  explicit world(scenario const& s, fault* f = nullptr);
  /// Number of epochs that were not the first of their job.
  [[nodiscard]] std::uint64_t again() const { return again_; }
  [[nodiscard]] std::uint64_t commits() const { return commits_; }
  [[nodiscard]] std::uint64_t fallen_back() const { return fallen_back_; }
  [[nodiscard]] std::uint64_t resumed() const { return resumed_; }
  /// Number of ranks that have retired.
  [[nodiscard]] std::uint64_t left() const { return left_; }
  [[nodiscard]] bool refused() const { return refused_; }
  [[nodiscard]] bool blamed() const { return blamed_.has_value(); }
  [[nodiscard]] std::optional<std::uint64_t> blamed_superstep() const { return blamed_; }
  /// Number of ranks the poison has killed.
  [[nodiscard]] int poisoned() const { return static_cast<int>(poisoned_in_.size()); }

  /// The neighbours of a place, if the program names any.
  [[nodiscard]] std::vector<int> neighbours_of(std::uint32_t place, std::uint32_t members) const;

 private:
  void begin(int rank) override;
  void receive(int from, int to, packet& p) override;
  void hear_lost(int rank, int peer) override;
  void hear_tick(int rank) override;
  void please_stop(int rank) override;
  void send(int rank, int to, role::bsp_message const& what) override;
  void follow_up(int rank) override;
  void add_own(int rank, std::vector<event>& all) const override;
  void apply_own(event const& e) override;
  [[nodiscard]] std::uint64_t most_events() const override;
  [[nodiscard]] std::string waits_for() const override;
  void check() const override;
  void check_done() const override;
  [[nodiscard]] bool may_fail() const override { return refused_; }
  [[nodiscard]] bool may_lose_parts() const override { return !scenario_->splits; }
  void add_to(role::digest& d) const override;

  using superstep = std::optional<std::uint64_t>;

  // A job and its root's view of the store.
  void open_store();
  void rerun(int ranks, bool commit_lands);
  [[nodiscard]] std::vector<role::bsp_generation> restorable() const;
  [[nodiscard]] std::uint32_t living() const;
  [[nodiscard]] std::uint64_t newest_known() const { return known_.empty() ? 0 : known_.front().number; }

  // Performs the roles' actions, checking the root's decisions.
  void perform(int rank, role::bsp_actions& list, letter const& came = {});
  void perform_for_root(int rank, role::bsp_action const& action);
  void start_next(int rank);
  void root_begins(compute const& c);
  void expect_restart(role::bsp::restart const& r);
  void expect_fall_back(role::bsp::fall_back const& f);
  void expect_bad(std::uint64_t generation) const;
  void expect_refusal() const;
  void expect_close(role::outcome const& how);
  void expect_blame(role::outcome const& b) const;

  // Losses, counted the way superstep_watch should count them.
  void hear_of_loss(int rank);
  void count_losses();
  void note_loss(int rank);
  void note_begin(std::uint64_t step);
  void note_finished(int rank, std::uint64_t step);
  /// Lost ranks that count against this superstep.
  [[nodiscard]] std::set<int> losses_at(superstep step) const;
  [[nodiscard]] bool to_blame(superstep step) const;

  // The work.
  void finish(int rank);
  /// Whether no rank sends a message in this superstep, and the next one mixes nothing.
  [[nodiscard]] bool pauses(std::uint64_t step) const;
  /// Whether the member at place `from` sends a message to the one at place `to`.
  [[nodiscard]] bool sends(std::uint64_t step, std::uint32_t from, std::uint32_t to,
                           std::uint32_t members) const;
  /// Whether two places name each other as neighbours, if the program names any.
  [[nodiscard]] bool linked(std::uint32_t a, std::uint32_t b, std::uint32_t members) const;
  [[nodiscard]] bool holds_next(std::uint32_t place, std::uint32_t next, std::uint32_t members) const;
  void gather_result();
  [[nodiscard]] bool is_poison(int rank, job const& j) const;
  void take_letters(node& n, job const& j, std::uint64_t epoch, std::uint64_t step) const;
  /// Returns whether this rank asks for another superstep; one rank does until the last superstep.
  [[nodiscard]] bool mix(node& n, compute const& c, job const& j);
  void retire(int rank);
  void load(int rank, restore const& r, role::bsp_actions& list);
  void write(int rank, bool well);
  void end_commit(std::uint64_t how);
  void remove_old(std::uint64_t newest);

  // Of this job: those of earlier ones may have the same numbers.
  [[nodiscard]] std::uint64_t stamp() const { return 7 + static_cast<std::uint64_t>(reruns_); }

  std::map<std::uint64_t, stored_generation> store_;
  std::set<std::uint64_t> ever_whole_;
  std::optional<role::bsp_generation> committing_;
  std::uint64_t last_committed_ = 0;
  int full_disks_ = 0, lost_commits_ = 0, damages_ = 0, reruns_ = 0, retirements_ = 0;

  // A second record of the root's input, to check its decisions.
  std::vector<role::bsp_generation> known_;
  std::set<int> gone_;
  std::map<std::uint64_t, std::uint64_t> announced_;  // epoch of each generation that was started
  std::optional<unsigned> waited_;                    // the root's ticks since a loss
  role::bsp::restart epoch_;
  bool resumes_ = false, moved_ = false, refused_ = false;
  std::uint64_t begun_in_epoch_ = 0;
  std::uint64_t root_steps_ = 0;      // supersteps the root has begun, over all epochs
  std::uint64_t open_ = 0;            // the generation being saved; 0: none
  std::uint64_t opened_at_ = 0;       // the root's superstep when saving started
  bool stop_heard_ = false;           // a rank has asked for an early end
  std::uint64_t saved_for_stop_ = 0;  // the latest generation that was begun since then; 0: none
  superstep save_at_;                 // the superstep that begins with the generation being saved, if known
  std::set<int> saves_, told_;        // members that were asked to save, members that have reported

  struct progress {
    bool joined = false;
    superstep next{};
  };
  std::map<int, progress> told_of_;                     // what the root knows about the members of its epoch
  superstep first_;                                     // first superstep of the epoch
  std::map<std::uint64_t, std::uint64_t> begins_with_;  // first superstep of a generation, if known
  bool counted_ = false;                                // whether a loss of this epoch was counted
  std::map<superstep, std::set<int>> losses_;
  std::vector<int> uncounted_;  // lost ranks; the root still asks the others where they are
  std::set<int> unheard_;       // have not answered
  std::optional<std::uint64_t> blamed_;
  std::map<std::pair<std::uint64_t, int>, values> last_cells_;  // after the last superstep, by epoch and rank
  std::map<int, std::uint64_t> poisoned_in_;  // by rank: the epoch in which the poison killed it

  std::uint64_t again_ = 0, commits_ = 0, left_ = 0, fallen_back_ = 0, resumed_ = 0;
};

using fault = world::fault;

[[nodiscard]] scenario random_scenario(std::uint64_t seed);
/// A scenario with at least one death.
[[nodiscard]] scenario death_scenario(std::uint64_t seed);
/// A scenario in which checkpoints complete and jobs are killed.
[[nodiscard]] scenario rerun_scenario(std::uint64_t seed);
/// A scenario in which ranks retire, without other trouble.
[[nodiscard]] scenario retirement_scenario(std::uint64_t seed);
/// A scenario with a superstep or a restore that kills its ranks. Odd seeds add other failures.
[[nodiscard]] scenario poison_scenario(std::uint64_t seed);
/// Runs the scenario. Throws `violation` with the seed that replays it.
summary run(scenario const& s, fault* f = nullptr);

}  // namespace bsp_harness
