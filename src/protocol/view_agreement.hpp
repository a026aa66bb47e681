// How ranks agree on those that go on: without a root that is lost, or with ranks that have waited.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "fields.hpp"
#include "outcome.hpp"

namespace skel::role {

/// The ranks that work together: all but the spare ones at first, then those that are left after a loss of
/// the root, and spare ones in place of lost ones. Ranks are those of the job.
struct view {
  std::uint32_t number = 1;
  std::vector<rank_id> members{};  ///< in increasing order; the first is the root
};

/// Ranks that wait until they are needed.
struct spare_ranks {
  std::vector<rank_id> ranks{};  ///< that may wait; some may have ended
  std::size_t members = 0;       ///< as many as a view should have
};

namespace views {

/// An attempt to agree; later ones are larger.
struct ballot {
  std::uint32_t round = 0;
  rank_id by = 0;
  friend auto operator<=>(ballot const&, ballot const&) = default;
};
struct accepted_members {
  ballot at{};
  std::vector<rank_id> members{};
};
/// To the rank that should propose: the root is lost.
struct root_lost {
  bool ended = false;  ///< its process has ended for certain
};
/// From the proposer: asks every rank that has lost the root, too, for a promise. If the root itself asks,
/// all of them.
struct prepare {
  ballot at{};
  bool ended = false;
};
/// The answer. Promises to accept no older ballot, and tells of the newest that was accepted. Of a spare
/// rank: it waits.
struct promise {
  ballot at{};
  accepted_members latest{};  ///< without members: none
};
/// From the proposer: these should go on.
struct propose {
  ballot at{};
  std::vector<rank_id> members{};
};
struct accept {
  ballot at{};
};
/// These go on; a rank that is not among them leaves.
struct decided {
  std::vector<rank_id> members{};
};

using message = std::variant<root_lost, prepare, promise, propose, accept, decided>;

struct send {
  rank_id to = 0;
  message what;
};

using role::operator==;

}  // namespace views

using view_messages = std::vector<views::send>;

/// One rank's part in agreeing on the members of the next view, once it has lost the root of this one, or the
/// root replaces other ranks: Paxos for a single decision [Lamport01, The Part-Time Parliament made simple].
/// A rank that hears the root takes part only if the root asks. At most one set of members is ever decided,
/// by more than half of this view's members, or by all but those whose processes have ended for certain; so a
/// minority can never go on, and neither can a root that was only slow. Spare ranks only say that they wait,
/// and hear what was decided. Messages may be lost; ticks repeat them. A regular value; events append their
/// messages to `out`.
class view_agreement {
 public:
  view_agreement() = default;
  /// `patience`: ticks of silence after which a rank is passed over as proposer.
  view_agreement(view of, rank_id self, unsigned patience, spare_ranks spares = {});

  /// This rank's opinion of another one. `ended`: for certain, which is never taken back.
  void lost(rank_id rank, bool ended, view_messages& out);
  void heard(rank_id rank);
  void on(rank_id from, views::message const& m, view_messages& out);
  void tick(view_messages& out);
  /// On the root: proposes a view in which spare ranks stand in for lost ones. Ends without one if too few
  /// ranks answer, or no spare one.
  void renew(view_messages& out);
  [[nodiscard]] bool renews() const { return renews_ && !decided_; }

  [[nodiscard]] view const& current() const { return view_; }
  [[nodiscard]] rank_id root() const { return view_.members.front(); }
  /// The next view, once it is decided.
  [[nodiscard]] std::optional<view> next() const;
  [[nodiscard]] bool decided() const { return decided_.has_value(); }
  /// For want of ranks: all that are left could not decide on their own, even if each of them agreed.
  [[nodiscard]] bool is_minority() const;
  /// Members that this rank has not lost.
  [[nodiscard]] int living() const;
  /// Ranks that may wait for a place.
  [[nodiscard]] std::vector<rank_id> const& spares() const { return spares_.ranks; }
  /// How many ranks have not answered when they should have proposed.
  [[nodiscard]] int passed_over() const;
  /// On the root: whether some of the ranks that it has lost may live, and have decided to go on without it.
  [[nodiscard]] bool may_be_left() const {
    return 2 * lost_.size() > view_.members.size() && self_ == root() && silent_majority();
  }

  friend bool operator==(view_agreement const&, view_agreement const&) = default;
  auto fields() const {
    return std::tie(lost_, ended_, ended_silently_, promised_, latest_, proposal_, votes_, decided_, silent_,
                    waited_, ready_, renews_);
  }

 private:
  void on(rank_id from, views::root_lost const& m, view_messages& out);
  void on(rank_id from, views::prepare const& m, view_messages& out);
  void on(rank_id from, views::promise const& m, view_messages& out);
  void on(rank_id from, views::propose const& m, view_messages& out);
  void on(rank_id from, views::accept const& m, view_messages& out);
  void on(rank_id from, views::decided const& m, view_messages& out);

  void step(view_messages& out);
  void begin_ballot(view_messages& out);
  void maybe_propose(view_messages& out);
  void decide(std::vector<rank_id> members, view_messages& out);
  void call_off();
  void send(rank_id to, views::message m, view_messages& out);
  void send_all(views::message const& m, view_messages& out);
  [[nodiscard]] bool is_member(rank_id rank) const;
  [[nodiscard]] bool is_spare(rank_id rank) const;
  /// Whether the members of the next view are sought.
  [[nodiscard]] bool seeks() const {
    return !decided_ && (renews_ || lost_.contains(root())) && is_member(self_);
  }
  /// Of the next members, without spare ranks.
  [[nodiscard]] std::size_t missing() const;
  [[nodiscard]] std::vector<rank_id> next_members() const;
  [[nodiscard]] rank_id proposer() const;
  [[nodiscard]] bool silent_majority() const;
  [[nodiscard]] bool is_quorum(std::set<rank_id> const& ranks) const;
  [[nodiscard]] bool root_has_ended() const { return ended_.contains(root()); }

  view view_;
  spare_ranks spares_;
  rank_id self_ = 0;
  unsigned patience_ = 0;
  std::set<rank_id> lost_;              // in this rank's opinion
  std::set<rank_id> ended_;             // of these, for certain
  std::set<rank_id> ended_silently_;    // of these, those that were lost before
  std::map<rank_id, unsigned> silent_;  // ticks for which a proposer has not answered
  views::ballot promised_;              // as acceptor
  views::accepted_members latest_;      // likewise
  views::accepted_members proposal_;    // of this rank; without members: it still collects promises
  std::set<rank_id> votes_;             // promises, then acceptances
  views::accepted_members best_;        // of the promises
  std::set<rank_id> ready_;             // spare ranks that wait
  unsigned waited_ = 0;                 // ticks in the current ballot
  bool renews_ = false;                 // this root seeks a view with spare ranks
  std::optional<std::vector<rank_id>> decided_;
};

}  // namespace skel::role
