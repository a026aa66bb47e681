// A fitted cost model: for each phase of a skeleton, a curve over the sizes of the problem.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skel/model/fit.hpp"
#include "skel/model/sample.hpp"

namespace skel::model {

/// Relative errors on samples that did not take part in the fit.
struct held_out {
  int fitted = 0;            ///< samples that took part
  int predicted = 0;         ///< samples that did not
  double median = 0;         ///< of the relative errors; 0.1 is 10 %
  double percentile_90 = 0;  ///< likewise
};

/// The distance of repetitions of one configuration from their median, relative to it.
struct repetition_noise {
  int configurations = 0;    ///< that were repeated
  int samples = 0;           ///< of them
  double median = 0;         ///< of the relative distances; 0.1 is 10 %
  double percentile_90 = 0;  ///< likewise
};

/// The cost of one phase: seconds, or another measured quantity such as bytes.
struct term {
  std::string phase;                        ///< "divide", "exchange", "run", …
  std::string quantity = "seconds";         ///< or "bytes", "busy_seconds"
  fitted curve{};                           ///< over the variables of the samples
  bool chosen = false;                      ///< whether the samples chose the basis
  std::optional<held_out> error{};          ///< empty: too few samples
  std::optional<repetition_noise> noise{};  ///< empty: no repetitions
};

/// All terms of one skeleton under one schedule.
struct skeleton_model {
  std::string program;      ///< as in the samples
  std::string skeleton;     ///< as in the samples
  std::string schedule;     ///< as in the samples
  std::string results;      ///< as in the samples
  std::vector<term> terms;  ///< one per phase and quantity
  /// The factor by which each division scales a variable: 0.5 halves it. Variables without an entry
  /// stay unchanged.
  std::map<std::string, double> per_level;
  /// The error of whole runs, predicted from phases that were fitted to smaller runs.
  std::optional<held_out> error{};

  /// The term of this phase and quantity, or nullptr if there is none.
  [[nodiscard]] term const* find(std::string_view phase, std::string_view quantity = "seconds") const;
  [[nodiscard]] std::string name() const;  ///< "farm guided:min=1 streamed"
};

/// The models of several skeletons, as `skel-model fit` writes them.
struct model {
  std::vector<skeleton_model> skeletons;  ///< one per program, skeleton, schedule and results policy
  /// From JSON text. Throws a usage_error `file: key: what is wrong, expected what`.
  [[nodiscard]] static model parse(std::string_view text, std::string const& file);
  /// From a JSON file. Throws as parse().
  [[nodiscard]] static model read(std::string const& path);
  /// The text that parse() reads.
  [[nodiscard]] std::string to_json() const;
};

/// Options of fit_model().
struct model_options {
  fit_options how;  ///< of each fit
  /// Basis functions by "phase" or "phase.quantity", "" for all phases. For other terms
  /// the samples choose.
  std::map<std::string, std::string> basis;
  std::vector<std::string> halved;  ///< variables that each division halves, if the samples do not show it
  bool residuals = true;            ///< adds kriging, see add_residuals()
};

/// Fits one term per phase and quantity, for each program, skeleton, schedule and results policy in
/// the samples. Throws as fit().
[[nodiscard]] model fit_model(std::span<sample const> samples, model_options const& options = {});

/// The observations that a term is fitted to.
[[nodiscard]] std::vector<observation> observations_of(std::span<sample const> samples,
                                                       skeleton_model const& of, term const& t);

}  // namespace skel::model
