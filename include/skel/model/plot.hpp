// Small plots as SVG: axes, ticks, points and lines.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace skel::model {

struct series {
  std::string name;
  std::vector<std::pair<double, double>> points;
  bool line = true;     ///< joined, in the order given
  bool markers = true;  ///< a dot at each
};

struct plot {
  std::string title{}, x_label{}, y_label{};
  bool log_x = false, log_y = false;  ///< then points that are not positive are left out
  bool diagonal = false;              ///< x = y, e.g. measured = predicted
  std::vector<series> data{};
  [[nodiscard]] std::string to_svg() const;
};

/// Several plots below each other as one SVG.
[[nodiscard]] std::string to_svg(std::vector<plot> const& plots);

}  // namespace skel::model
