// Evaluates a model that was kept in a file.
#pragma once

#include "cell.hpp"
#include "model_file.hpp"

namespace isosurface {

/// Values and gradients anywhere on the grid, as the surfaces were found on them. Two slices of nodes are in
/// memory: points are best asked for in order of z.
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

  /// False outside of the grid, and for coordinates that are not numbers.
  [[nodiscard]] bool contains(vector3 const& p) const;
  /// NaN in cells with a node that has no finite data. usage_error unless contains(p), and for a damaged
  /// file.
  [[nodiscard]] sample at(vector3 const& p);

 private:
  void load(std::size_t layer);
  model_reader file_;
  std::array<std::vector<double>, 2> slices_;
  std::size_t layer_;  // slices_ are its lower and upper one
};

}  // namespace isosurface
