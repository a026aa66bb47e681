// A rank of a ring_steal call that leaves before its end.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "ring_steal/role/borrower.hpp"
#include "ring_steal/role/lender.hpp"
#include "ring_steal/role/message.hpp"

namespace skel::role {

/// Each debt goes back to its own lender, as a value that lacks what this rank has lent on, and with it the
/// loans made from it. Before, their borrowers are asked to be silent (moves), so nothing that they say is
/// under way to a rank that has passed the loan on. They work on meanwhile. The new lender ends the silence
/// (inherits). This rank stays until all have said that they have heard.
///
/// Every wait ends. A borrower answers at once that it is silent. A lender that leaves itself inherits, and
/// hands that on. A silent debt cannot go back yet, but the debt that it is a part of was lent earlier, and
/// so on; the first of them is not silent, since the root does not leave. Appends actions to `out`.
class departure {
 public:
  departure() = default;
  explicit departure(rank_id self) : self_(self) {}

  void begin() { leaves_ = true; }
  /// This rank stays: it is the lender of what it has not handed back.
  void call_off(lender const& loans, steal_actions& out);
  /// No thread of this rank runs a task. Hands back what it can; repeated.
  void hand_over(lender& loans, borrower& debts, steal_actions& out);
  void on(rank_id from, steal::heard const& m);
  void on(rank_id from, steal::revoke const& m, steal_actions& out);
  void lost(rank_id rank, steal_actions& out);

  [[nodiscard]] bool leaves() const { return leaves_; }
  /// Whether all have heard.
  [[nodiscard]] bool done() const { return leaves_ && unheard_.empty(); }
  auto fields() const { return std::tie(leaves_, asked_, unheard_); }

 private:
  struct request {
    bool silent = false;        // the borrower was asked to be
    std::uint64_t unheard = 0;  // messages about it that are under way
  };
  struct part {
    rank_id by = 0;  // has not heard yet
    loan_id number = 0;
    rank_id heir = 0;
    loan_id of = 0;
  };
  void bequeath(debt_id id, lender& loans, borrower& debts, steal_actions& out);
  [[nodiscard]] bool is_silent(lender const& loans, loan_id number) const;
  template <class Void>
  void revoke_if(Void const& is_void, steal_actions& out);

  rank_id self_ = 0;
  bool leaves_ = false;
  std::map<loan_id, request> asked_;
  std::vector<part> unheard_;
};

}  // namespace skel::role
