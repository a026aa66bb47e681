// One rank of a divide-and-conquer call: divides, solves its part, and combines with its partners.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "divide_and_conquer/role/rank_span.hpp"
#include "role/outcome.hpp"
#include "role/peer_message.hpp"

namespace skel::role {

/// Where the problem is at the beginning, and the solution at the end.
enum class problem_place : std::uint8_t { everywhere, root, parts };
enum class solution_place : std::uint8_t { everywhere, root, parts };

namespace divide_act {
/// Send `what` to `to`, perhaps this rank itself. For `problem` and `solution` the engine attaches the
/// group's.
struct send {
  rank_id to = 0;
  peer_message what;
  friend bool operator==(send const&, send const&) = default;
};
/// Divide the problem of this group on a compute thread; answer with divided(), or with whole().
struct divide {
  rank_span group;
  friend bool operator==(divide const&, divide const&) = default;
};
/// Solve the problem of this group; answer with solved().
struct solve {
  rank_span group;
  friend bool operator==(solve const&, solve const&) = default;
};
/// Combine the solutions of both halves of this group, which are not needed any more; answer with solved().
struct combine {
  rank_span group;
  friend bool operator==(combine const&, combine const&) = default;
};
/// What came with the event just handled is the problem of this group: keep it.
struct keep_problem {
  rank_span group;
  friend bool operator==(keep_problem const&, keep_problem const&) = default;
};
/// What came with the event just handled is the solution of this group: keep it, and nothing inside of it.
struct keep_solution {
  rank_span group;
  friend bool operator==(keep_solution const&, keep_solution const&) = default;
};
/// On the root: every rank has what the call gives it.
struct complete {
  friend bool operator==(complete const&, complete const&) = default;
};
/// Start nothing more, and answer with quiet() when no thread is inside the user's functions.
struct drain {
  friend bool operator==(drain const&, drain const&) = default;
};
}  // namespace divide_act

using divide_action = std::variant<divide_act::send, divide_act::divide, divide_act::solve,
                                   divide_act::combine, divide_act::keep_problem, divide_act::keep_solution,
                                   divide_act::complete, divide_act::drain, end, fail>;
using divide_actions = std::vector<divide_action>;

/// The group that a message is about; an empty one if it names none.
[[nodiscard]] rank_span group_of(peer_message const& m);

struct partner_config {
  rank_id self = 0;
  int ranks = 1;  ///< rank 0 is the root
  problem_place from = problem_place::root;
  solution_place to = solution_place::everywhere;
  std::uint64_t call_hash = 0;
  friend bool operator==(partner_config const&, partner_config const&) = default;
};

/// The groups of ranks halve; who divides a group's problem keeps one half for its own group and hands the
/// other half to the first rank of the other group. On the way back, ranks of equal place in two groups
/// exchange solutions (`everywhere`), or the first rank of one sends to the first of the other (`root`).
/// Source: "hypercube divide and conquer", sections 3 and 5 of the paper on the DC_Call skeleton.
///
/// - Who waits for the solution of a group asks another rank of it when the one it waits for is lost, or
///   makes it from the solutions of the halves; of a rank alone, from its problem.
/// - Who divides keeps what it hands on. Whoever needs a group's problem asks the nearest living rank above
///   that has divided it; the last of these is the root. What `parts` lose is lost (part_lost).
/// - A rank keeps the largest solution that it has. Who asks for less gets that: it serves at least as well.
/// - A group whose problem cannot be divided (trivial) is solved as a whole.
///
/// Level-triggered: each event looks anew at what is wanted, what there is, and who is lost. A wrong
/// suspicion costs work. A regular value; events append their actions to `out`. It relies on the wire
/// contract.
class partner {
 public:
  partner() = default;
  explicit partner(partner_config config);

  void begin(divide_actions& out);
  /// The problems of both halves are there.
  void divided(rank_span group, divide_actions& out);
  /// The problem of this group cannot be divided.
  void whole(rank_span group, divide_actions& out);
  void solved(rank_span group, divide_actions& out);
  /// A function of the user's threw, the `number`-th call on this rank.
  void failed(std::uint64_t number, std::string text, divide_actions& out);
  void please_stop(divide_actions& out);
  /// After drain: no thread is inside the user's functions any more.
  void quiet(divide_actions& out);
  void on(rank_id from, peer_message const& m, divide_actions& out);
  void lost(rank_id rank, divide_actions& out);
  /// Who is lost has been said again since the last tick; others are alive.
  void tick(divide_actions& out);

  [[nodiscard]] rank_span everybody() const { return {0, config_.ranks}; }
  [[nodiscard]] std::uint64_t call_hash() const { return config_.call_hash; }
  [[nodiscard]] bool draining() const { return draining_; }
  [[nodiscard]] bool ended() const { return ended_; }
  /// On the root: this rank has said that it has what the call gives it.
  [[nodiscard]] bool has_reached(rank_id rank) const { return reached_.contains(rank); }
  /// Groups of other ranks whose problems this rank has made its own, since they were lost.
  [[nodiscard]] std::uint64_t taken_over() const { return taken_over_; }
  /// What it waits for, for people: "the solution of ranks 4 to 7 from rank 5".
  [[nodiscard]] std::string waits_for() const;
  friend bool operator==(partner const&, partner const&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  enum class problem_state : std::uint8_t { here, dividing, undivided };
  // A solution that is wanted here: from a rank, or made here.
  struct goal {
    std::optional<rank_id> from{};
    bool made_here = false;
    bool busy = false;  // being solved or combined
    friend bool operator==(goal const&, goal const&) = default;
  };
  struct request {
    rank_id from = 0;
    bool problem = false;
    rank_span group;
    friend auto operator<=>(request const&, request const&) = default;
  };

  void advance(divide_actions& out);
  void push_solutions(divide_actions& out);
  void answer_requests(divide_actions& out);
  void check_reached(divide_actions& out);
  bool pursue(rank_span s, divide_actions& out);
  void make(rank_span s, goal& g, divide_actions& out);
  bool obtain_problem(rank_span s, divide_actions& out);
  void want_problem(rank_span s, divide_actions& out);
  void tell(rank_id to, peer_message_kind what, rank_span group, divide_actions& out) const;
  void on_problem(rank_span s, divide_actions& out);
  void on_solution(rank_span s, divide_actions& out);
  void start_draining(divide_actions& out);
  [[nodiscard]] std::optional<rank_span> solution_with(rank_span s) const;
  [[nodiscard]] std::map<rank_span, problem_state>::const_iterator problem_with(rank_span s) const;
  [[nodiscard]] rank_span target() const;
  [[nodiscard]] rank_span largest_led(rank_id rank) const;
  [[nodiscard]] bool mine(rank_span s) const;
  [[nodiscard]] bool is_lost(rank_id rank) const { return lost_.contains(rank); }
  [[nodiscard]] std::optional<rank_id> who_has_solution(rank_span s) const;

  partner_config config_;
  std::map<rank_span, problem_state> problems_;
  std::map<rank_span, rank_id> wanted_problems_;  // and who is to send it
  std::set<rank_span> solutions_;                 // none inside another
  std::set<rank_span> solved_whole_;              // groups whose problem cannot be divided
  std::map<rank_span, goal> goals_;
  std::set<request> requests_;
  std::set<rank_span> pushed_;  // own groups whose partners have been sent the solution
  std::set<rank_id> lost_;
  std::set<rank_id> said_lost_;  // since the last tick
  std::set<rank_id> reached_;    // on the root
  std::uint64_t taken_over_ = 0;
  bool begun_ = false;
  bool told_reached_ = false;
  bool told_part_lost_ = false;
  bool complete_ = false;
  bool draining_ = false;
  bool stop_heard_ = false;
  bool told_stopped_ = false;
  bool ended_ = false;
};

}  // namespace skel::role
