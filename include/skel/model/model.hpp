// A fitted cost model: per phase of a skeleton a curve over the sizes of the problem.
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

/// Relative errors on samples that the fit has not seen.
struct held_out {
  int fitted = 0, predicted = 0;  ///< samples
  double median = 0, percentile_90 = 0;
};

/// How far repetitions of one configuration are from their median, relative to it.
struct repetition_noise {
  int configurations = 0, samples = 0;
  double median = 0, percentile_90 = 0;
};

/// The cost of one phase: seconds, or another measured quantity such as bytes.
struct term {
  std::string phase;                 ///< "divide", "exchange", "run", …
  std::string quantity = "seconds";  ///< or "bytes", "busy_seconds"
  fitted curve{};
  bool chosen = false;  ///< basis by cross-validation, not given
  std::optional<held_out> error{};
  std::optional<repetition_noise> noise{};
};

/// All terms of one skeleton under one schedule.
struct skeleton_model {
  std::string program, skeleton, schedule, results;
  std::vector<term> terms;
  /// What becomes of a variable with each division: 0.5 is halved, 1 stays. Others are taken to stay.
  std::map<std::string, double> per_level;
  /// Of whole runs, composed of phases that were fitted to the smaller runs.
  std::optional<held_out> error{};

  [[nodiscard]] term const* find(std::string_view phase, std::string_view quantity = "seconds") const;
  [[nodiscard]] std::string name() const;  ///< "farm guided:min=1 streamed"
};

struct model {
  std::vector<skeleton_model> skeletons;
  /// Errors of parse are a usage_error `file: key: what, expected what`.
  [[nodiscard]] static model parse(std::string_view text, std::string const& file);
  [[nodiscard]] static model read(std::string const& path);
  [[nodiscard]] std::string to_json() const;
};

struct model_options {
  fit_options how;
  /// Given basis functions by "phase" or "phase.quantity"; "" is for all phases. Others are chosen.
  std::map<std::string, std::string> basis;
  std::vector<std::string> halved;  ///< variables that each division halves, where the samples do not show it
  bool drop_outliers = false;       ///< fit again without them
  bool residuals = true;            ///< kriging of what the basis functions leave, see add_residuals
};

/// One term per phase and quantity for each skeleton, schedule and kind of results in the samples.
[[nodiscard]] model fit_model(std::span<sample const> samples, model_options const& options = {});

/// The observations that a term is fitted to.
[[nodiscard]] std::vector<observation> observations_of(std::span<sample const> samples,
                                                       skeleton_model const& of, term const& t);

}  // namespace skel::model
