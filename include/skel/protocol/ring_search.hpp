// Whom a rank without work asks next: Lee, Lee and Lu, "Comparisons of load balancing strategies for ray
// tracing on network clustered environments", section 3, phase 2 of GDC.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "skel/protocol/action.hpp"
#include "skel/protocol/digest.hpp"

namespace skel::protocol {

/// The thief's search along the ring. A regular value.
///
/// The paper's cases, as the answers to a request:
///   1. the rank asked works and gives: found(). The thief remembers it and asks it first next time.
///   2. it is idle: idle() without a hint. The thief goes on to the next rank it has not visited.
///   3. it is idle, but knows a rank that works: idle() with a hint, where the thief asks next.
/// A thief that came round waits until retry(). It also waits after `arc` requests of one round, and goes on
/// from there: with thousands of idle ranks, whole rounds would be a storm of requests.
class ring_search {
 public:
  static constexpr unsigned arc = 16;

  ring_search() = default;
  /// `ranks` in the order of the ring; `busy`: a rank known to have work at the start.
  ring_search(rank_id self, std::vector<rank_id> ranks, rank_id busy);

  /// The rank to ask now; it counts as visited. Nothing: came round, or asked enough for now.
  [[nodiscard]] std::optional<rank_id> next();
  void found(rank_id victim);
  void idle(rank_id victim, std::optional<rank_id> hint);
  /// Time has passed: ask again.
  void retry();
  void lost(rank_id rank);
  void heard(rank_id rank);
  /// Who had work when this rank last heard; what it tells others (case 3).
  [[nodiscard]] std::optional<rank_id> busy() const { return busy_; }
  void tell_busy(rank_id rank) { busy_ = rank; }

  friend bool operator==(ring_search const&, ring_search const&) = default;
  void add_to(digest& d) const;

 private:
  [[nodiscard]] std::size_t index_of(rank_id rank) const;
  [[nodiscard]] bool open(std::size_t index) const { return !visited_[index] && !lost_[index]; }

  std::vector<rank_id> ring_;  // begins with the successor, ends before self
  std::vector<bool> visited_;
  std::vector<bool> lost_;
  std::optional<rank_id> busy_;
  unsigned asked_ = 0;  // in this round
};

}  // namespace skel::protocol
