// The simulated skeletons: one function each, called on every rank of the simulated cluster.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "program/simulation.hpp"
#include "skel/multi_host.hpp"
#include "skel/sim/platform.hpp"

namespace skel::simulate {

using program::simulator_name;
using result = program::simulation_result;

/// The simulated machines, and the ranks that die.
struct cluster_options {
  std::string platform = "lee-1997-14";
  std::optional<int> ranks;
  std::vector<std::string> failures;
  std::string suspect_after = "5s";
};

/// Tasks of a farm or of ring_steal; bsp takes the costs of shares of supersteps.
struct task_options {
  std::optional<std::uint64_t> tasks;
  std::string costs = "exponential:1s";
  std::uint64_t seed = 1;
  std::size_t result_bytes = 8;
  bool longest_first = false;
};

struct stealing_options {
  std::string take = "half";
  std::string order = "doubling";
};

struct superstep_options {
  std::uint64_t supersteps = 100;
  std::string pattern = "ring";
  std::size_t message_bytes = 8192;
};

/// Slices that hosts of multi_host read, and layers between them.
struct layer_options {
  std::uint64_t units = 64;
  std::uint64_t rows = 128;
  double read_seconds = 1.22;
  double unit_seconds = 16.1;
  double surface_share = 1;
  std::string file;
  std::size_t row_bytes = 4096;
};

/// Disks of the hosts of multi_host.
struct disk_options {
  unsigned disks = 0;
  bool computed_slices = false;
  double write_bandwidth = 0;
};

/// Options of multi_host: sizes, costs and the enabled measures.
struct group_options {
  layer_options layers;
  disk_options disks;
  unsigned group_size = 8;
  bool preload = false;
  std::string sink = "hosts";
  std::vector<std::string> without;
};

struct options {
  program::common_options common;
  std::vector<std::unique_ptr<program::simulated_job>> jobs;
  bool list = false;
  std::string batch;
  std::string skeleton = "farm";
  cluster_options cluster;
  task_options work;
  stealing_options stealing;
  superstep_options supersteps;
  group_options groups;
  std::string machine;
};

/// Kills a rank at a time or at a number of results.
struct planned_failure {
  sim::failure at;
  std::optional<std::uint64_t> results;
};

void simulate_farm(context& ctx, options const& o, std::vector<double> const& costs,
                   std::vector<planned_failure> const& failures, result& out);
/// Runs a list of tasks with ring_steal.
void simulate_stealing(context& ctx, schedule::stealing const& how, std::vector<double> const& costs,
                       result& out);
/// Slices that hosts read and rows that workers process. `shared` is common to all ranks.
class layer_costs;
void simulate_groups(context& ctx, group_options const& g, layer_costs const& costs, result& out,
                     std::shared_ptr<void>& shared);
/// Supersteps in which every rank computes and sends messages to its neighbours. `costs` holds those
/// of the first superstep's parts, then those of the second's, and so on.
void simulate_supersteps(context& ctx, superstep_options const& o, std::vector<double> const& costs,
                         result& out);

}  // namespace skel::simulate
