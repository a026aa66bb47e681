// A rank that leaves its job before the others, because it was asked to.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "farewell.hpp"
#include "remembered_results.hpp"

namespace skel::detail {

/// The rank hands back what it has (run::vacate) and tells the others that it leaves, so that its end is no
/// fault. The lowest other rank that stays gets what it remembers. Once all that stay have heard that, and so
/// all that came before, its calls end like those of a view that is over. Rank 0 does not answer while it
/// leaves itself, so one rank stays. Requires the engine's lock, except for want() and wanted().
class retirement {
 public:
  retirement(call_table& calls, wires& w, farewell& end) : calls_(calls), wires_(w), farewell_(end) {}

  /// Set by run_main: what keeps a process from ending before the others, and what this rank remembers for
  /// another attempt; null: the others cannot go on without the root.
  char const* kept_by = "it works in a context that the program has made itself";
  remembered_results* memory = nullptr;

  /// This rank is to leave as soon as it can.
  void want() noexcept { wanted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }
  /// Again and again once it is wanted, also before a call begins (`between` two calls): in the program's own
  /// code a rank stays, since no other call may follow.
  void step(bool between);
  void on_control(int from, std::span<std::byte const> body);
  /// Whether the rank has said that it leaves.
  [[nodiscard]] bool announced_by(int rank) const { return leaving_.contains(rank); }
  /// This rank has left: its process ends now.
  [[nodiscard]] bool done() const { return done_; }
  /// Why the others cannot go on without this rank; empty: they can.
  [[nodiscard]] std::string obstacle() const;

 private:
  /// The lowest other rank that stays, but for rank 0; the number of ranks if there is none.
  [[nodiscard]] int heir() const;
  void leave();
  void say(std::uint8_t what);
  void send(int to, std::uint8_t what);

  call_table& calls_;
  wires& wires_;
  farewell& farewell_;
  std::atomic<bool> wanted_{false};
  std::set<int> leaving_;
  std::set<int> unheard_;   // ranks that must hear that this one leaves
  bool said_ = false;       // that it leaves
  bool explained_ = false;  // why it stays
  bool done_ = false;
};

}  // namespace skel::detail
