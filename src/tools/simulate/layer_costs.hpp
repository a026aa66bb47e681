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
  /// Uses the costs given by the options. `--layer-costs` reads them from a file and scales seconds:
  /// a host that reads all layers takes --read-seconds per slice, and the mean layer takes
  /// --unit-seconds. Throws usage_error `FILE:LINE: ...`.
  layer_costs(layer_options const& o, std::size_t result_bytes);

  [[nodiscard]] std::uint64_t layers() const { return layers_; }
  [[nodiscard]] std::uint64_t rows(std::uint64_t layer) const;
  [[nodiscard]] double row_seconds(std::uint64_t layer, std::uint64_t row) const;
  [[nodiscard]] std::size_t result_bytes(std::uint64_t layer, std::uint64_t row) const;
  /// Bytes of a packet of `count` rows.
  [[nodiscard]] std::size_t packet_bytes(std::uint64_t layer, std::uint64_t count) const;
  /// Seconds that a host reads until a row may leave, after the row before. `first`: its share begins
  /// with this layer.
  [[nodiscard]] double ready_seconds(std::uint64_t layer, std::uint64_t row, bool first) const;
  /// Seconds of all slices and rows.
  [[nodiscard]] double total_seconds() const;

 private:
  struct traced_row {
    double seconds = 0;
    double bytes = 0;
  };
  using rows_of_layers = std::vector<std::vector<traced_row>>;
  void read(std::string const& path);
  void check(std::string const& path) const;
  void scale();
  [[nodiscard]] double slices_seconds(std::uint64_t first, std::uint64_t end) const;

  layer_options const& how_;
  std::size_t bytes_;
  std::uint64_t layers_, busy_;
  std::vector<double> slices_;  // traced: seconds of each slice
  rows_of_layers rows_;         // traced: rows of each layer
  // Traced: seconds until a row is ready, where a share begins or goes on; bytes of one and two rows.
  rows_of_layers first_, next_, packets_;
};

}  // namespace skel::simulate
