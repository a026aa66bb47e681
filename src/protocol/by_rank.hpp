// One value for each rank of a run.
#pragma once

#include <cstddef>
#include <tuple>
#include <vector>

#include "outcome.hpp"

namespace skel::role {

/// The values of the ranks 0 ... n - 1. A regular value.
template <class T>
class by_rank {
 public:
  by_rank() = default;
  explicit by_rank(rank_id ranks) : all_(static_cast<std::size_t>(ranks)) {}

  [[nodiscard]] rank_id ranks() const { return static_cast<rank_id>(all_.size()); }
  [[nodiscard]] bool has(rank_id rank) const { return rank >= 0 && rank < ranks(); }
  [[nodiscard]] T& operator[](rank_id rank) { return all_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] T const& operator[](rank_id rank) const { return all_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] auto begin() { return all_.begin(); }
  [[nodiscard]] auto end() { return all_.end(); }
  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }
  auto fields() const { return std::tie(all_); }
  friend bool operator==(by_rank const&, by_rank const&) = default;

 private:
  std::vector<T> all_;
};

}  // namespace skel::role
