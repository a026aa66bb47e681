// The costs of tasks observed in a small run, and draws of the costs of a larger run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace skel::model {

/// The generalised Pareto distribution of what exceeds a threshold [Hosking87].
struct pareto_tail {
  double scale = 0, shape = 0;
  /// The excess that a share `p` (0 to 1) of all excesses does not reach.
  [[nodiscard]] double quantile(double p) const;
  /// Fits by probability-weighted moments. `excesses` are sorted. Empty if they are all 0.
  [[nodiscard]] static std::optional<pareto_tail> fit(std::span<double const> excesses);
};

/// A number from [0, 1) that is the same with every implementation of the standard library.
[[nodiscard]] double uniform(std::mt19937_64& dice);

class observed_costs {
 public:
  /// Reads the spans `compute` of a trace (docs/reference/report.md). Throws usage_error
  /// `FILE: what is wrong, expected what`.
  [[nodiscard]] static observed_costs read_trace(std::string const& path);
  /// `tasks` tasks took `seconds` seconds together.
  void add(double seconds, std::uint64_t tasks);
  /// Completes the object: call after the last add().
  void finish();

  /// The mean cost of a task in seconds.
  [[nodiscard]] double mean() const;
  /// The costs of `n` tasks. A seed first draws a population from the observed tasks, then the tasks
  /// from that population: so the draws of several seeds differ by the luck of the run and by what
  /// the observed tasks leave unknown. With `mean`, only the form of the distribution is theirs, and
  /// each population has this mean. The observed tasks cannot contain the rarest ones of a larger
  /// run, so the greatest tenth comes from a pareto_tail if one fits.
  [[nodiscard]] std::vector<double> draw(std::size_t n, std::uint64_t seed,
                                         std::optional<double> mean = std::nullopt) const;
  /// Whether draws use a pareto_tail.
  [[nodiscard]] bool has_tail() const { return tail_; }

 private:
  [[nodiscard]] std::vector<double> seconds() const;

  struct span_of_tasks {
    double seconds = 0;  // per task
    std::uint64_t tasks = 0;
  };
  std::vector<span_of_tasks> spans_;  // sorted by finish()
  bool tail_ = false;
};

}  // namespace skel::model
