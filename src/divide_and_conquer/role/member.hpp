// One rank of a divide_and_conquer call: divides, solves its part, and combines with its partners.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "divide_and_conquer/role/groups.hpp"
#include "divide_and_conquer/role/holdings.hpp"
#include "divide_and_conquer/role/message.hpp"
#include "divide_and_conquer/role/rank_span.hpp"
#include "protocol/attendance.hpp"
#include "protocol/outcome.hpp"

namespace skel::role {

/// The work of lost ranks may have ended them. A rank therefore asks the root (divide_root)
/// before each such job and runs it alone: it asks when nothing runs, and starts nothing else until
/// the job is done. If the rank is lost meanwhile, the root knows what it was running. The root's
/// own jobs continue while it waits, because it is the last to be allowed.
class takeover_turn {
 public:
  takeover_turn() = default;
  explicit takeover_turn(rank_id self) : on_root_(self == 0) {}

  /// Starts a pass, in which may_start() is called for all jobs that could start. A request that is
  /// not repeated is withdrawn.
  void begin_pass() { wanted_ = false; }
  void end_pass(divide_actions& out) {
    if (asked_ && !wanted_) end(*std::exchange(asked_, std::nullopt), false, out);
  }
  /// Whether this job may start now; if so, it starts. `own`: the job is this rank's if no rank is lost.
  bool may_start(group_work work, bool own, divide_actions& out) {
    if (own && (on_root_ || (!asked_ && !holds_))) return ++running_ > 0;
    if (own) return false;
    if (asked_ == work) {
      wanted_ = true;
      if (!allowed_) return false;
      asked_.reset();
      holds_ = work;
      return ++running_ > 0;
    }
    if (asked_ || holds_ || (running_ > 0 && !on_root_)) return false;
    asked_ = work;
    wanted_ = true;
    allowed_ = false;
    out.push_back(divide::send{0, divide::ask_takeover{work}});
    return false;
  }
  void allow(group_work work) { allowed_ = allowed_ || asked_ == work; }
  /// Another rank does the work.
  void leave(group_work work) {
    if (asked_ == work) asked_.reset();
  }
  /// A job is done.
  void finished(group_work work, divide_actions& out) {
    --running_;
    if (holds_ == work) end(*std::exchange(holds_, std::nullopt), true, out);
  }

  /// The work for which permission is requested.
  [[nodiscard]] std::optional<group_work> asked() const { return asked_; }
  auto fields() const { return std::tie(asked_, allowed_, holds_, running_); }

 private:
  static void end(group_work work, bool done, divide_actions& out) {
    out.push_back(divide::send{0, divide::end_takeover{work, done}});
  }

  bool on_root_ = false;
  std::optional<group_work> asked_;
  bool allowed_ = false;  // the requested work
  bool wanted_ = false;   // in this pass
  std::optional<group_work> holds_;
  std::uint64_t running_ = 0;
};

/// Tracks the problems and solutions that this rank has, those it needs, and how to get them.
/// divide_groups decides from which rank.
///
/// - A rank that waits for a solution from a lost rank asks another rank of the group. Failing
///   that, it makes the solution from those of the halves, or for a single rank from its problem.
/// - A rank that divides keeps the problems it hands on. A rank that needs a group's problem asks the nearest
///   living ancestor that has divided it, finally the root. The answer may be the problem of a larger group,
///   which the asking rank divides. With `in_parts`, lost data cannot be recovered (part_lost).
/// - A rank does the work of lost ranks only with the root's permission (takeover_turn).
/// - A rank keeps its largest solution, and answers requests for smaller ones with it.
/// - A group whose problem cannot be divided (trivial) is solved as a whole.
///
/// Level-triggered: each event re-evaluates the needs, the available data and the lost ranks. A wrong
/// suspicion costs work. Events append their actions to `out`. Relies on the wire contract.
class divide_member {
 public:
  divide_member() = default;
  explicit divide_member(divide_config config)
      : groups_(config), attendance_(config.self, 0), turn_(config.self) {}

  void begin(divide_actions& out);
  /// The same if this rank has the whole solution already, which is kept now. Requires a solution that goes
  /// everywhere.
  void begin_solved(divide_actions& out);
  /// The problems of both halves are available.
  void divided(rank_span group, divide_actions& out);
  /// The problem of this group cannot be divided.
  void whole(rank_span group, divide_actions& out);
  void solved(rank_span group, divide_actions& out);
  /// A function of the job threw, the `number`-th call on this rank.
  void failed(std::uint64_t number, std::string text, divide_actions& out);
  void please_stop(divide_actions& out) { attendance_.please_stop(out); }
  /// After drain: no thread is inside the job's functions any more.
  void quiet(divide_actions& out) { attendance_.quiet(out); }
  void on(rank_id from, divide_message const& m, divide_actions& out);
  void lost(rank_id rank, divide_actions& out);
  /// Ongoing losses have been repeated since the last tick.
  void tick(divide_actions& out);

  [[nodiscard]] divide_groups const& groups() const { return groups_; }
  [[nodiscard]] bool draining() const { return attendance_.draining(); }
  [[nodiscard]] arrivals const& reached() const { return reached_; }
  /// Groups of lost ranks whose solutions this rank has made.
  [[nodiscard]] std::uint64_t taken_over() const { return taken_over_; }
  /// Readable description of what it waits for: "the solution of ranks 4 to 7 from rank 5".
  [[nodiscard]] std::string waits_for() const;
  auto fields() const {
    return std::tie(attendance_, problems_, solutions_, goals_, requests_, turn_, left_, lost_, reached_,
                    taken_over_, begun_, told_part_lost_);
  }

 private:
  using problem_state = held_problems::state;
  // A solution that this rank needs: received from a rank, or made here.
  struct goal {
    std::optional<rank_id> from{};
    bool made_here = false;
    bool busy = false;       // being solved or combined
    bool combining = false;  // being combined
  };
  enum class request_kind : std::uint8_t { solution, problem, make };
  struct request {
    rank_id from = 0;
    request_kind what{};
    rank_span group;
    friend auto operator<=>(request const&, request const&) = default;
  };

  [[nodiscard]] bool keeps(rank_span group) const {
    return is_group(everybody(), group) && attendance_.active();
  }
  void advance(divide_actions& out);
  void answer_requests(divide_actions& out);
  bool answer(request const& r, divide_actions& out);
  bool hand_out_problem(request const& r, divide_actions& out);
  bool pursue(rank_span s, divide_actions& out);
  void make(rank_span s, goal& g, divide_actions& out);
  bool obtain_problem(rank_span s, divide_actions& out);
  void want_problem(rank_span s, divide_actions& out);
  void lose_part(rank_id rank, divide_actions& out);
  [[nodiscard]] bool is_left(rank_span s) const;
  [[nodiscard]] rank_span everybody() const { return groups_.everybody(); }
  [[nodiscard]] rank_id self() const { return groups_.config().self; }

  divide_groups groups_;
  attendance attendance_;
  held_problems problems_;
  held_solutions solutions_;
  std::map<rank_span, goal> goals_;
  std::set<request> requests_;
  takeover_turn turn_;
  std::map<rank_span, rank_id> left_;  // on the root: work left to another rank
  membership lost_;
  arrivals reached_;
  std::uint64_t taken_over_ = 0;
  bool begun_ = false;
  bool told_part_lost_ = false;
};

}  // namespace skel::role
