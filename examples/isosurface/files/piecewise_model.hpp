// Evaluates a model from a file.
#pragma once

#include "cell.hpp"
#include "model_file.hpp"

namespace isosurface {

/// Values and gradients anywhere on the grid, identical to those of the surfaces. Memory holds two
/// slices of nodes, so points should be evaluated in order of z.
///
///     isosurface::piecewise_model model("head.model");
///     auto const [value, gradient] = model.at({12.5, 30, 7.25});
class piecewise_model {
 public:
  struct sample {
    double value = 0;
    vector3 gradient{};  ///< by the coordinates
  };

  explicit piecewise_model(std::string path);
  [[nodiscard]] model_header const& header() const noexcept { return file_.header(); }

  /// Returns false outside of the grid and for NaN.
  [[nodiscard]] bool contains(vector3 const& p) const;
  /// Returns NaN in cells with a node without finite data. Throws usage_error unless contains(p),
  /// and for a damaged file.
  [[nodiscard]] sample at(vector3 const& p);

 private:
  void load(std::size_t layer);
  model_reader file_;
  std::array<std::vector<double>, 2> slices_;
  std::size_t layer_;  // slices_ are its lower and upper one
};

}  // namespace isosurface
