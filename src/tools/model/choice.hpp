// Options shared by predict, compare and plot: sizes, model, machine, and the price of exchanges.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "skel/model/predict.hpp"

namespace skel::model {

/// The model file that fit writes, and that predict and compare read, if none is given.
inline constexpr char const* default_model = "model.json";

struct choice {
  std::string model, machine;
  std::vector<std::string> sizes;  ///< NAME=VALUE
  std::optional<double> nodes, edges;
  std::string program, skeleton, schedule, results;  ///< empty: all
  std::string bytes, exchange = "automatic", kind = "raw";
  double confidence = 0.95;
  bool json = false;

  void add_options(CLI::App& app, bool model_needed = true);
  void add_size_options(CLI::App& app);
  [[nodiscard]] point at() const;
  [[nodiscard]] std::optional<skel::model::machine> where() const;
  [[nodiscard]] skel::model::model fitted() const;
  [[nodiscard]] predict_options how() const;
  /// The skeletons of the model that the options select. Throws usage_error if there is none, or if
  /// a given size influences none of them.
  [[nodiscard]] std::vector<skeleton_model const*> of(skel::model::model const& m) const;

 private:
  void check_names(std::vector<skeleton_model const*> const& models) const;
};

}  // namespace skel::model
