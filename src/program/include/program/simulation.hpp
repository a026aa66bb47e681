// Jobs that skel-simulate runs on a simulated cluster. Examples add theirs to the program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "program/options.hpp"
#include "program/run_files.hpp"
#include "skel/context.hpp"
#include "skel/schedule.hpp"

namespace skel::program {

inline constexpr char const* simulator_name = "skel-simulate";

struct simulation_settings {
  common_options const& common;
  std::uint64_t seed;
  double task_seconds;  ///< of a task of ring_steal, at power 1
  schedule::stealing steal;
};

/// The result on the root.
struct simulation_result {
  run_outcome run;
  std::vector<observe::rank_trace> traces;
  std::uint64_t wrong = 0;           ///< number of wrong results
  double cost = 0;                   ///< of all work, in seconds at power 1
  std::function<void()> afterwards;  ///< called after a successful simulation
};

class simulated_job {
 public:
  simulated_job() = default;
  simulated_job(simulated_job const&) = delete;
  simulated_job& operator=(simulated_job const&) = delete;
  virtual ~simulated_job() = default;

  /// The skeleton that it calls: a value of --skeleton.
  [[nodiscard]] virtual std::string skeleton() const = 0;
  /// The name of their group begins with the skeleton.
  virtual void add_options(CLI::App& app) = 0;
  /// Called once. Returns what every rank of the cluster runs.
  virtual std::function<void(context&)> start(simulation_settings const& settings,
                                              simulation_result& out) = 0;
};

/// Makes the jobs of all examples that are linked. They are added before main() runs.
inline std::vector<std::unique_ptr<simulated_job> (*)()>& simulated_jobs() {
  static std::vector<std::unique_ptr<simulated_job> (*)()> all;
  return all;
}

/// Adds a job: `bool const added = skel::program::add_simulated_job<my_job>();`.
template <class Job>
bool add_simulated_job() {
  simulated_jobs().push_back([]() -> std::unique_ptr<simulated_job> { return std::make_unique<Job>(); });
  return true;
}

}  // namespace skel::program
