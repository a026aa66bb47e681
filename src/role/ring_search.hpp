// Whom an idle rank asks for work: phase 2 of GDC.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "role/digest.hpp"
#include "role/outcome.hpp"
#include "skel/schedule.hpp"

namespace skel::role {

/// One rank's way along the ring in search of work (gdc section 3, phase 2, cases 1 to 3). A regular value:
/// next() says whom to ask, the answer is told with works(), idle() or shortcut(). A search visits every rank
/// once at most and ends when it has come round to where it began.
class ring_search {
 public:
  ring_search() = default;
  /// `ring`: the ranks that compute, in the order of the ring, `self` among them or not.
  ring_search(rank_id self, std::shared_ptr<std::vector<rank_id> const> ring, ring_order order);

  /// A new search: nobody is visited.
  void begin();
  /// Whom to ask now, and marks it visited; nobody when the search is at its end.
  [[nodiscard]] std::optional<rank_id> next();
  /// Case 1: the rank works and has given a task. It is remembered and asked first next time.
  void works(rank_id rank) { busy_ = rank; }
  /// Case 2: the rank is idle and knows nobody; the search goes on to the next unvisited rank.
  void idle(rank_id rank);
  /// Case 3: the rank is idle, but it has found `busy`: that one is asked next, and those between are
  /// skipped.
  void shortcut(rank_id rank, rank_id busy);
  /// A rank where work was found lately, for whoever asks this rank (case 3 from the other side).
  [[nodiscard]] std::optional<rank_id> knows_busy() const { return busy_; }

  void lost(rank_id rank);
  void alive(rank_id rank);
  friend bool operator==(ring_search const&, ring_search const&) = default;
  void hash(digest& d) const;

 private:
  [[nodiscard]] std::optional<std::size_t> index_of(rank_id rank) const;
  [[nodiscard]] bool may_ask(std::optional<rank_id> rank) const;

  rank_id self_ = 0;
  std::shared_ptr<std::vector<rank_id> const> ring_;
  ring_order order_ = ring_order::successors;
  std::size_t at_ = 0;         // own place on the ring
  std::size_t step_ = 0;       // how far along the order this search has come
  std::vector<bool> visited_;  // in this search
  std::vector<bool> dead_;
  std::optional<rank_id> busy_;
  std::optional<rank_id> hint_;
};

}  // namespace skel::role
