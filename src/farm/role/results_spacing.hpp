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

  /// A message costs the root this many seconds, and this many ranks send messages.
  void message_cost(double seconds, rank_id workers);
  /// The spacing in microseconds that the rank must learn, if it does not know it yet.
  [[nodiscard]] std::optional<std::uint64_t> news_for(rank_id rank) {
    if (std::exchange(told_[rank], microseconds_) == microseconds_) return std::nullopt;
    return microseconds_;
  }
  [[nodiscard]] double seconds() const { return static_cast<double>(microseconds_) * 1e-6; }
  friend bool operator==(results_spacing const&, results_spacing const&) = default;
  auto fields() const { return std::tie(microseconds_); }

 private:
  std::uint64_t microseconds_ = 0;  // between two results messages of a rank
  by_rank<std::uint64_t> told_;
};

}  // namespace skel::role
