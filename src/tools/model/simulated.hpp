// Simulates the skeletons of a model. skel-simulate is a separate program because SimGrid brings an
// MPI of its own.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "program/sister.hpp"
#include "skel/model/predict.hpp"
#include "tools/model/task_costs.hpp"

namespace skel::model {

/// The warning for a simulation in which every task costs the mean.
inline constexpr char const* fixed_costs = "simulated with fixed costs: the interval contains no error";

/// What the samples of a model do not contain.
struct simulation_options {
  std::string costs;     ///< a trace, or as skel-simulate --costs; empty: each task costs the model's mean
  std::string platform;  ///< as skel-simulate --platform; empty: equal machines, l and g of the machine file
  std::string tree;      ///< ring_steal: as skel-simulate --tree; empty: a list of tasks
  std::optional<std::uint64_t> rows;    ///< multi_host: rows per unit
  std::optional<double> read_seconds;   ///< multi_host: seconds to read a slice
  std::size_t row_bytes = 4096;         ///< multi_host: bytes per row
  std::optional<double> message_bytes;  ///< bsp: bytes per message; empty: those of the samples
  std::string pattern = "ring";         ///< bsp: as skel-simulate --pattern
  std::string local = "union-find";     ///< divide_and_conquer: as skel-simulate --local

  /// They need the flag `simulate`.
  void add_options(CLI::App& app, CLI::Option* simulate);
};

/// A skeleton of the model under the choices that are left to its user.
struct simulated_run {
  skeleton_model const* model = nullptr;
  std::string schedule;     ///< farm
  unsigned group_size = 0;  ///< multi_host
  int ranks = 2;
};

struct seeded_run {
  simulated_run what;
  std::optional<std::uint64_t> seed;
};

/// Returns the group size of a schedule of multi_host, 0 if there is none.
[[nodiscard]] unsigned group_size_of(std::string const& schedule);

/// Simulates runs of the same problem.
class simulator {
 public:
  /// `where` may be nullptr if the options name a platform. Throws usage_error for a bad trace.
  simulator(simulation_options const& options, machine const* where, point sizes, std::string kind);

  /// Returns the virtual seconds of runs, several simulated at a time. Each seed draws the costs of
  /// tasks: from the trace, from the distribution, or the model's mean with its error. Without a seed,
  /// tasks cost the mean of the model. Throws usage_error if neither the model nor the options contain
  /// what a skeleton needs, error if skel-simulate fails or is missing.
  [[nodiscard]] std::vector<double> seconds(std::vector<seeded_run> const& runs) const;
  /// What makes the time of a run uncertain beyond its costs.
  [[nodiscard]] std::vector<std::string> warnings(simulated_run const& run) const;
  /// Whether the time depends on the seed.
  [[nodiscard]] bool varies(simulated_run const& run) const;

 private:
  // A run, and where the files that skel-simulate reads are put.
  struct request {
    simulated_run const& run;
    std::optional<std::uint64_t> seed;
    program::temporary_folder const& folder;
  };
  using arguments = std::vector<std::string>;
  [[nodiscard]] arguments words_of(request const& r) const;
  [[nodiscard]] point sizes_of(simulated_run const& run) const;
  void check_sizes(simulated_run const& run) const;
  [[nodiscard]] double size(simulated_run const& run, char const* name, char const* what) const;
  [[nodiscard]] double mean_work(simulated_run const& run, std::optional<std::uint64_t> seed) const;
  [[nodiscard]] std::string task_costs(request const& r, double tasks) const;
  [[nodiscard]] arguments group_words(request const& r, double units) const;
  [[nodiscard]] arguments layer_costs(request const& r, double units, double mean) const;
  [[nodiscard]] arguments division_words(request const& r) const;
  [[nodiscard]] bool distribution() const { return options_.costs.find(':') != std::string::npos; }

  simulation_options const& options_;
  machine const* where_;
  point sizes_;
  std::string kind_;
  std::optional<observed_costs> observed_;
};

}  // namespace skel::model
