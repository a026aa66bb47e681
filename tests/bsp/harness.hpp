// Bsp's roles in a world of peers (peer_world.hpp), over a model of the store. The program is a circle of
// cells: in each superstep every rank sends its cells to every other, and mixes each cell with its neighbour.
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

#include "bsp/role/route.hpp"
#include "role/peer_world.hpp"

namespace bsp_harness {

namespace role = skel::role;

using event = harness_common::peer_event;
using harness_common::exploration;
using harness_common::require;
using harness_common::summary;
using harness_common::violation;

struct scenario : harness_common::peer_scenario {
  int cells = 3;
  std::uint64_t rounds = 1;   // of mixing; one superstep more gives the root all cells
  bool splits = true;         // the program can cut its state anew
  std::uint64_t every = 0;    // a checkpoint is due in every so manieth superstep of the root; 0: never
  int full_disks = 0;         // parts that cannot be written
  int lost_commits = 0;       // commits that fail
  int damages = 0;            // parts that cannot be read after all
  int reruns = 0;             // the whole job is killed, and another one goes on
  bool commits_hang = false;  // none ever ends
  unsigned max_losses = 2;    // of ranks that were computing the same superstep, and one more
  // Whoever has the last cell in this superstep dies, unless it is the root; ~0: while it restores.
  std::optional<std::uint64_t> poison{};
  static constexpr std::uint64_t restoring = ~std::uint64_t{0};
  [[nodiscard]] std::string describe() const;
};

using values = std::vector<std::uint64_t>;

// What a rank sends another in a superstep, and how it got there.
struct letter {
  std::uint64_t epoch = 0, step = 0;
  std::uint32_t from = 0, to = 0;  // places
  values cells{};
  void add_to(role::digest& d) const;
};

struct packet {
  role::bsp_message what;
  letter content;
  void add_to(role::digest& d) const { content.add_to(d); }
};

// A rank's state and what it has received.
struct part {
  std::uint64_t step = 0;  // the next one
  int first = 0;           // of its cells
  values cells{}, whole{};
  void add_to(role::digest& d) const;
};

using restore = role::bsp::restore;
using save = role::bsp::save;
using compute = role::bsp::compute;
using letters = std::map<int, letter>;  // by rank

struct job {
  std::variant<restore, save, compute> what;
  // When it has begun:
  std::uint32_t place = 0;
  std::vector<int> members{};
  std::optional<letters> came{};
};

struct node : harness_common::peer_node {
  role::bsp_member role;
  role::bsp_conductor conductor;  // the root's
  part state;
  std::map<std::pair<std::uint64_t, std::uint64_t>, letters> kept;  // by epoch and superstep
  std::vector<letter> outgoing;                                     // of the superstep computed last
  std::deque<job> jobs;
  std::optional<job> running;
  std::optional<std::pair<save, part>> writing;
  values result;
  void add_to(role::digest& d) const;
};

struct stored_generation {
  std::uint32_t parts = 0;
  std::map<std::uint32_t, part> stored{};
  std::set<std::uint32_t> damaged{};
  [[nodiscard]] bool whole() const { return parts > 0 && stored.size() == parts; }
};

class world final : public harness_common::peer_world<scenario, node, packet, role::bsp_actions> {
 public:
  explicit world(scenario const& s, fault* f = nullptr);
  /// Epochs that were not the first of their job.
  [[nodiscard]] std::uint64_t again() const { return again_; }
  [[nodiscard]] std::uint64_t commits() const { return commits_; }
  [[nodiscard]] std::uint64_t fallen_back() const { return fallen_back_; }
  [[nodiscard]] std::uint64_t resumed() const { return resumed_; }
  [[nodiscard]] bool refused() const { return refused_; }
  [[nodiscard]] bool blamed() const { return blamed_; }
  /// Ranks that the poison has ended.
  [[nodiscard]] int poisoned() const { return static_cast<int>(poisoned_in_.size()); }

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

  // A job, and what its conductor knows of the store.
  void open_store();
  void rerun(int ranks, bool commit_lands);
  [[nodiscard]] std::vector<role::bsp_generation> restorable() const;
  [[nodiscard]] std::uint32_t living() const;
  [[nodiscard]] std::uint64_t newest_known() const { return known_.empty() ? 0 : known_.front().number; }

  // What the roles want done.
  void perform(int rank, role::bsp_actions& list, letter const& came = {});
  void perform_for_conductor(int rank, role::bsp_action const& action);
  void start_next(int rank);
  void root_begins(compute const& c);
  void expect_restart(role::bsp::restart const& r);
  void expect_fall_back(role::bsp::fall_back const& f);
  void expect_bad(std::uint64_t generation) const;
  void expect_refusal() const;
  void expect_blame(role::bsp::blame const& b) const;

  // Losses, as a superstep_watch should see them.
  using superstep = std::optional<std::uint64_t>;
  void note_loss(int rank);
  void note_begin(std::uint64_t step);
  /// Those that count against this superstep, of ranks that are lost.
  [[nodiscard]] std::set<int> losses_at(superstep step) const;
  [[nodiscard]] bool to_blame(superstep step) const;

  // The work.
  void finish(int rank);
  [[nodiscard]] bool is_poison(int rank, job const& j) const;
  void take_letters(node& n, job const& j, std::uint64_t epoch, std::uint64_t step) const;
  /// Whether this rank goes on: one of them, while there is something to do.
  [[nodiscard]] bool mix(node& n, compute const& c, job const& j) const;
  void load(int rank, restore const& r, role::bsp_actions& list);
  void write(int rank, bool well);
  void end_commit(std::uint64_t how);
  void remove_old(std::uint64_t newest);

  std::map<std::uint64_t, stored_generation> store_;
  std::set<std::uint64_t> ever_whole_;
  std::optional<role::bsp_generation> committing_;
  std::uint64_t last_committed_ = 0;
  int full_disks_ = 0, lost_commits_ = 0, damages_ = 0, reruns_ = 0;

  // What the conductor has been told, kept a second time to see whether it decides rightly.
  std::vector<role::bsp_generation> known_;
  std::set<int> gone_;
  std::map<std::uint64_t, std::uint64_t> announced_;  // epoch of each generation that was begun
  std::optional<unsigned> waited_;                    // ticks of the root since a loss
  role::bsp::restart epoch_;
  bool resumes_ = false, moved_ = false, refused_ = false;
  std::uint64_t begun_in_epoch_ = 0;
  std::uint64_t root_steps_ = 0;  // begun in all
  std::uint64_t open_ = 0;        // the generation that is being saved
  std::uint64_t opened_at_ = 0;   // in this superstep of the root
  std::set<int> saves_, told_;    // of its members: have been told to save, have said how it went

  struct progress {
    bool joined = false;
    superstep next{};
  };
  std::map<int, progress> told_of_;                     // what the root knows of the members of its epoch
  superstep first_;                                     // of the epoch
  std::map<std::uint64_t, std::uint64_t> begins_with_;  // the superstep of a generation, where known
  bool counted_ = false;                                // a loss of this epoch
  std::map<superstep, std::set<int>> losses_;
  bool blamed_ = false;
  std::map<int, std::uint64_t> poisoned_in_;  // epochs of ranks

  std::uint64_t again_ = 0, commits_ = 0, fallen_back_ = 0, resumed_ = 0;
};

using fault = world::fault;

[[nodiscard]] scenario random_scenario(std::uint64_t seed);
/// At least one death.
[[nodiscard]] scenario death_scenario(std::uint64_t seed);
/// Checkpoints that get whole, and jobs that are killed.
[[nodiscard]] scenario rerun_scenario(std::uint64_t seed);
/// A superstep, or a restore, that ends whatever rank runs it; other trouble too, where the seed is odd.
[[nodiscard]] scenario poison_scenario(std::uint64_t seed);
/// Throws violation with the seed that replays it.
summary run(scenario const& s, fault* f = nullptr);

}  // namespace bsp_harness
