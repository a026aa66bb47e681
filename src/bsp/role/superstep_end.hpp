// The end of one superstep as seen by one rank: a barrier that also tells how many bundles to expect.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "bsp/role/message.hpp"

namespace skel::role {

/// Dissemination barrier [Hensgen88]: in round k, the member at place p sends a tally to the member at place
/// p + 2^k, once it has received those of all earlier rounds. After log2 of the number of members rounds,
/// rounded up, every member knows that all have finished.
///
/// A rank sends bundles only to members for which it has messages, so receivers do not know how many
/// bundles will arrive. Tallies carry this number: a notice for the member d places away travels along the
/// bits of d, lowest first, and notices for the same member are added up on the way.
///
/// Ranks that wait for their neighbours only use came_from() and more(), without tallies.
///
/// A regular value. Places are those of an epoch, 0 to members - 1.
class superstep_end {
 public:
  /// The number of rounds for `members` members.
  static constexpr unsigned rounds(std::size_t members) {
    return static_cast<unsigned>(std::bit_width(members - 1));
  }
  /// The place to which `place` sends its tally of this round.
  static constexpr std::size_t partner(std::size_t place, unsigned round, std::size_t members) {
    return (place + (std::size_t{1} << round)) % members;
  }

  /// This rank has computed the superstep, and sends bundles to these places.
  void computed(bool more, std::uint64_t save, std::vector<std::uint32_t> const& bundles_to);
  void received(rank_id from, bsp::bundle const& b);
  void received(rank_id from, bsp::tally const& t);
  /// The next tally of this rank, without epoch and superstep, if it can be sent now. Call it again until it
  /// returns nothing.
  [[nodiscard]] std::optional<bsp::tally> next(std::size_t place, std::size_t members);
  /// All members have finished the superstep, and all bundles for this rank have arrived.
  [[nodiscard]] bool over(std::size_t place, std::size_t members) const;

  /// Whether the bundles of all these ranks have arrived.
  [[nodiscard]] bool came_from(std::vector<rank_id> const& ranks) const;
  /// The ranks whose bundles have arrived, in ascending order.
  [[nodiscard]] std::vector<rank_id> const& came() const { return came_; }
  /// A member continues or has sent a message. Final when the superstep is over.
  [[nodiscard]] bool more() const { return more_; }
  /// The generation as which the state after this superstep is saved; 0: none. Final likewise.
  [[nodiscard]] std::uint64_t save() const { return save_; }
  friend bool operator==(superstep_end const&, superstep_end const&) = default;
  auto fields() const { return std::tie(announced_, heard_, came_, sent_, computed_, more_, save_); }

 private:
  [[nodiscard]] bool heard_all_before(unsigned round) const;

  std::map<std::uint32_t, std::uint64_t> announced_;  // bundles by receiver; this rank's, or to be passed on
  std::uint64_t heard_ = 0;                           // bit k: the tally of round k has arrived
  std::vector<rank_id> came_;                         // senders of bundles, sorted
  unsigned sent_ = 0;                                 // tallies
  bool computed_ = false, more_ = false;
  std::uint64_t save_ = 0;
};

/// The ends of this rank's superstep and of those that other members have finished before it. Few, so a list
/// costs less than a map.
class superstep_ends {
 public:
  struct entry {
    std::uint64_t epoch = 0, step = 0;
    superstep_end end{};
  };

  /// Null: nothing is known of that superstep.
  [[nodiscard]] superstep_end* find(std::uint64_t epoch, std::uint64_t step);
  /// Adds it if it is missing.
  [[nodiscard]] superstep_end& at(std::uint64_t epoch, std::uint64_t step);
  void erase(std::uint64_t epoch, std::uint64_t step);
  void forget_before(std::uint64_t epoch);
  [[nodiscard]] std::vector<entry> const& all() const { return all_; }
  friend bool operator==(superstep_ends const&, superstep_ends const&) = default;
  auto fields() const { return std::tie(all_); }

 private:
  std::vector<entry> all_;  // in ascending order
};

}  // namespace skel::role
