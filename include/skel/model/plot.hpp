// Small plots as SVG: axes, ticks, points and lines.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace skel::model {

/// Points of one kind.
struct series {
  std::string name;                               ///< in the legend
  std::vector<std::pair<double, double>> points;  ///< x and y
  bool line = true;                               ///< joins the points in this order
  bool markers = true;                            ///< a dot at each point
};

/// A plot of several series.
struct plot {
  std::string title{};         ///< above the plot
  std::string x_label{};       ///< with the unit
  std::string y_label{};       ///< with the unit
  bool log_x = false;          ///< logarithmic: points that are not positive are skipped
  bool log_y = false;          ///< likewise
  bool diagonal = false;       ///< draws the line x = y, e.g. measured = predicted
  std::vector<series> data{};  ///< drawn in this order
  /// Returns the text of an SVG file.
  [[nodiscard]] std::string to_svg() const;
};

/// Several plots, one below the other, as the text of one SVG file.
[[nodiscard]] std::string to_svg(std::vector<plot> const& plots);

}  // namespace skel::model
