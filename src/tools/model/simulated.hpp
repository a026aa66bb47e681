// Simulates skeletons for which the model has no formula. skel-simulate is a separate program
// because SimGrid brings an MPI of its own.
#pragma once

#include <optional>
#include <string>

#include "skel/model/predict.hpp"

namespace skel::model {

/// The warning for a simulation in which every task costs the mean.
inline constexpr char const* fixed_costs = "simulated with fixed costs: the interval contains no error";

struct simulation {
  std::string skeleton = "farm";
  std::string schedule, results;
  std::string costs;     ///< as skel-simulate --costs; empty: each task costs the mean of the model
  std::string platform;  ///< as skel-simulate --platform; empty: equal machines, l and g of the machine file
  std::string tree;      ///< ring_steal: as skel-simulate --tree; empty: its default
  int ranks = 2;
  std::uint64_t seed = 1;
};

/// Returns the virtual seconds of a run with the tasks of `sizes`. The model supplies the work and
/// the bytes of results. Throws usage_error if the model has no cost per task, error if
/// skel-simulate fails or is missing.
[[nodiscard]] double simulated_seconds(skeleton_model const& m, machine const* where, point const& sizes,
                                       simulation const& what, std::string const& kind);

}  // namespace skel::model
