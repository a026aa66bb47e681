// Skeletons that the model has no formula for run on the simulated cluster: by skel-simulate, which is a
// program of its own because SimGrid brings an MPI of its own.
#pragma once

#include <optional>
#include <string>

#include "skel/model/predict.hpp"

namespace skel::model {

/// What is to be said of a simulation in which every task costs what it costs on average.
inline constexpr char const* fixed_costs = "simulated with fixed costs: the interval holds no error";

struct simulation {
  std::string skeleton = "farm";
  std::string schedule, results;
  std::string costs;     ///< as skel-simulate --costs; empty: each task the mean of the model
  std::string platform;  ///< as skel-simulate --platform; empty: equal machines, l and g of the machine file
  std::string tree;      ///< of ring_steal, as skel-simulate --tree; empty: what that has as its default
  int ranks = 2;
  std::uint64_t seed = 1;
};

/// Runs it with the tasks of `sizes` and the work, and bytes of results, that the model has for them.
/// usage_error where the model does not say what a task costs; error when skel-simulate fails, or is not
/// there.
[[nodiscard]] double simulated_seconds(skeleton_model const& m, machine const* where, point const& sizes,
                                       simulation const& what, std::string const& kind);

}  // namespace skel::model
