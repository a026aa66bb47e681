// Which processes of a job have ended.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace skel::detail {

/// The processes of a job, by rank in it, as one rank sees them. An end is at first only known; it counts
/// once the messages that the process had sent before are received.
class ended_processes {
 public:
  using watch = std::function<std::vector<int>()>;
  /// `here` returns the ranks whose processes have ended for certain since it was last called, `elsewhere`
  /// the same for a few ranks on other hosts. Both may be empty.
  explicit ended_processes(watch here = {}, watch elsewhere = {});

  /// Asks both. Returns the ranks on other hosts that have ended, of which only this rank knows.
  std::vector<int> look();
  /// Another rank reports these.
  void learn(std::span<int const> elsewhere) { add(elsewhere, true); }
  /// Call when no message is left to receive: known ends count from now on. Returns them.
  std::vector<int> settle();
  /// Whether an end is known that does not count yet.
  [[nodiscard]] bool unsettled() const { return !ending_.empty(); }

  /// Those that count.
  [[nodiscard]] std::set<int> const& all() const { return gone_; }
  [[nodiscard]] bool contains(int rank) const { return gone_.contains(rank); }
  [[nodiscard]] bool is_known(int rank) const;
  /// Whether another host has reported it.
  [[nodiscard]] bool is_elsewhere(int rank) const { return elsewhere_.contains(rank); }

  [[nodiscard]] bool has_news() const { return !news_.empty(); }
  /// Returns those that count and were not returned before.
  std::vector<int> take_news() { return std::exchange(news_, {}); }
  /// All of them are news once more.
  void renew() { news_.assign(gone_.begin(), gone_.end()); }

 private:
  void add(std::span<int const> ranks, bool elsewhere);

  watch watch_here_, watch_elsewhere_;
  std::set<int> gone_;
  std::set<int> elsewhere_;  // also of those that do not count yet
  std::vector<int> ending_;  // known, but messages of theirs may still arrive
  std::vector<int> news_;
};

}  // namespace skel::detail
