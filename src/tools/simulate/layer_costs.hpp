// Costs of slices and rows of layers in simulated groups: uniform, or traced by skel-isosurface.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/simulate/simulation.hpp"

namespace skel::simulate {

/// Layer u lies between slices u and u + 1, and has rows. Seconds at power 1.
class layer_costs {
 public:
  /// Uses the costs given by the options. `--layer-costs` reads them from a file and scales them:
  /// the mean slice takes --read-seconds, the mean layer --unit-seconds, and the mean row yields
  /// --result-bytes. Throws usage_error `FILE:LINE: ...`.
  layer_costs(group_options const& o, std::size_t result_bytes);

  [[nodiscard]] std::uint64_t layers() const { return layers_; }
  [[nodiscard]] std::uint64_t rows(std::uint64_t layer) const;
  [[nodiscard]] double row_seconds(std::uint64_t layer, std::uint64_t row) const;
  [[nodiscard]] std::size_t result_bytes(std::uint64_t layer, std::uint64_t row) const;
  /// Seconds of slices [first, end).
  [[nodiscard]] double slices_seconds(std::uint64_t first, std::uint64_t end) const;
  /// Seconds of all slices and rows.
  [[nodiscard]] double total_seconds() const;

 private:
  struct traced_row {
    double seconds = 0;
    double bytes = 0;
  };
  void read(std::string const& path);
  void scale();

  group_options const& how_;
  std::size_t bytes_;
  std::uint64_t layers_, busy_;
  std::vector<double> slices_;                 // traced: seconds of each slice
  std::vector<std::vector<traced_row>> rows_;  // traced: rows of each layer
};

}  // namespace skel::simulate
