// How long the results of a farm's ranks wait for others, so that the root can keep up with all ranks.
#pragma once

#include <optional>
#include <tuple>
#include <utility>

#include "protocol/by_rank.hpp"

namespace skel::role {

/// A regular value, part of farm_book.
class results_spacing {
 public:
  results_spacing() = default;
  explicit results_spacing(rank_id ranks) : told_(ranks) {}

  /// A message costs the root this many seconds, and this many ranks send messages. The spacing is rounded to
  /// a power of two, so that small changes cause no messages.
  void message_cost(double seconds, rank_id workers) {
    double const all = most_per_message_time * static_cast<double>(workers) * seconds;
    std::uint64_t wanted = shortest;
    while (wanted < longest && static_cast<double>(wanted) * 1e-6 < all) wanted *= 2;
    microseconds_ = wanted == shortest ? 0 : wanted;  // results of a quantum travel together anyway
  }
  /// The spacing in microseconds that the rank must learn, if it does not know it yet.
  [[nodiscard]] std::optional<std::uint64_t> news_for(rank_id rank) {
    if (std::exchange(told_[rank], microseconds_) == microseconds_) return std::nullopt;
    return microseconds_;
  }
  [[nodiscard]] double seconds() const { return static_cast<double>(microseconds_) * 1e-6; }
  friend bool operator==(results_spacing const&, results_spacing const&) = default;
  auto fields() const { return std::tie(microseconds_); }

 private:
  // The root spends at most a third of its time on results messages.
  static constexpr double most_per_message_time = 3;
  static constexpr std::uint64_t shortest = 100, longest = 204'800;  // microseconds

  std::uint64_t microseconds_ = 0;  // between two results messages of a rank
  by_rank<std::uint64_t> told_;
};

}  // namespace skel::role
