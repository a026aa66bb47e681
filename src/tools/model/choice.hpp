// What predict, compare and plot share: sizes, the model, the machine, and how exchanges are priced.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "skel/model/predict.hpp"

namespace skel::model {

/// What fit writes and predict and compare read where no file is named.
inline constexpr char const* default_model = "model.json";

struct choice {
  std::string model, machine;
  std::vector<std::string> sizes;  ///< NAME=VALUE
  std::optional<double> nodes, edges;
  std::string skeleton, schedule, results;  ///< empty: all
  std::string bytes, exchange = "automatic", kind = "raw";
  double confidence = 0.95;
  bool json = false;

  void add_options(CLI::App& app, bool model_needed = true);
  void add_size_options(CLI::App& app);
  [[nodiscard]] point at() const;
  [[nodiscard]] std::optional<skel::model::machine> where() const;
  [[nodiscard]] skel::model::model fitted() const;
  [[nodiscard]] predict_options how() const;
  /// Those of the model that the options name; usage_error if there is none, or none that depends on a size.
  [[nodiscard]] std::vector<skeleton_model const*> of(skel::model::model const& m) const;

 private:
  void check_names(std::vector<skeleton_model const*> const& models) const;
};

}  // namespace skel::model
