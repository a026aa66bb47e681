// Computed volumes, and the modeler without ranks.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "job.hpp"
#include "mesh_builder.hpp"

namespace test {

namespace iso = isosurface;

using formula = std::function<double(double, double, double)>;

/// How a volume gives rows of its slices: each by itself, or by decoding the whole slice.
enum class rows_of : bool { volume, decoded_slice };

class sampled_volume final : public volume_data::volume_reader {
 public:
  sampled_volume(volume_data::volume_header header, formula f, rows_of rows)
      : volume_reader(std::move(header)), f_(std::move(f)), freely_(rows == rows_of::volume) {}
  [[nodiscard]] bool skips_freely() const override { return true; }
  [[nodiscard]] bool reads_rows_freely() const override { return freely_; }

 private:
  void fill(std::span<std::byte> next) override { fill_from(0, next); }
  void fill_rows(std::size_t first, std::span<std::byte> rows) override {
    if (freely_)
      fill_from(first, rows);
    else
      volume_reader::fill_rows(first, rows);
  }
  void fill_from(std::size_t first, std::span<std::byte> rows) {
    auto const& [xs, ys, zs] = header().coordinates;
    auto* to = rows.data();
    for (auto row = first; to != rows.data() + rows.size(); ++row)
      for (double const x : xs) {
        auto const v = static_cast<float>(f_(x, ys[row % ys.size()], zs[position() + row / ys.size()]));
        std::memcpy(to, &v, sizeof v);
        to += sizeof v;
      }
  }
  void pass(std::size_t /*slices*/) override {}
  formula f_;
  bool freely_;
};

using axes = std::array<std::vector<double>, 3>;

/// n points from low to high, on each axis.
inline axes evenly(std::array<std::size_t, 3> n, double low, double high) {
  axes all;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t i = 0; i < n[a]; ++i)
      all[a].push_back(low + (high - low) * static_cast<double>(i) / static_cast<double>(n[a] - 1));
  return all;
}

/// 0, 1, ...: exactly representable.
inline axes counted(std::array<std::size_t, 3> n) {
  axes all;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t i = 0; i < n[a]; ++i) all[a].push_back(static_cast<double>(i));
  return all;
}

inline iso::open_function volume(axes const& at, formula const& f, rows_of rows = rows_of::volume) {
  return [=] {
    volume_data::volume_header header;
    header.name = "test";
    header.coordinates = at;
    for (std::size_t a = 0; a < 3; ++a) header.size[a] = at[a].size();
    return std::make_unique<sampled_volume>(header, f, rows);
  };
}

struct model_result {
  iso::mesh mesh;
  iso::surface_counts counts;
};

/// A division of the work: groups start at every `share`-th layer; packets hold a number of pieces
/// and are sent; pieces are processed as soon as they are ready; layers reach the mesh in this order
/// (empty: ascending).
struct partition {
  std::size_t share = SIZE_MAX, packet = SIZE_MAX;
  bool travels = false;
  std::vector<std::size_t> arrival{};
  bool early = false;
};

inline model_result model(iso::open_function const& open, iso::surface_options const& options,
                          partition const& how = {}) {
  iso::node_grid const grid(open()->header(), options);
  iso::edge_lattice const lattice(grid, options.edges_per_cell());
  iso::modeler const job(grid, options, open);
  iso::mesh_builder builder(grid, lattice, options.values);
  iso::modeler::carried carried;
  std::vector<std::vector<iso::piece_mesh>> made(grid.layers());
  for (std::size_t layer = 0; layer < grid.layers(); ++layer) {
    if (layer % how.share == 0) carried = {};
    iso::modeler::unit unit;
    auto const process = [&](std::size_t end) {
      for (auto first = made[layer].size(); first < end; first += std::min(how.packet, end - first)) {
        auto const count = std::min(how.packet, end - first);
        auto packet = job.cut(unit, first, count);
        if (how.travels) {
          std::vector<std::byte> bytes;
          skel::pack(packet, bytes);
          if (bytes.size() > skel::packed_size(packet))
            throw std::logic_error("a packet is larger than its stated size");
          std::span<std::byte const> in(bytes);
          packet = skel::unpack<iso::layer_packet>(in);
        }
        for (std::size_t i = 0; i < count; ++i) {
          auto m = job.process(packet, i);
          if (how.travels) {
            std::vector<std::byte> bytes;
            skel::pack(m, bytes);
            std::span<std::byte const> in(bytes);
            m = skel::unpack<iso::piece_mesh>(in);
          }
          made[layer].push_back(std::move(m));
        }
      }
    };
    process(job.read(layer, carried, unit, [&](std::uint64_t ready) {
      if (how.early) process(ready);
    }));
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    auto const layer = how.arrival.empty() ? i : how.arrival.at(i);
    for (std::size_t piece = 0; piece < made[layer].size(); ++piece)
      builder.add(layer, piece, std::move(made[layer][piece]));
  }
  auto const counts = builder.counts();
  return {builder.finish(), counts};
}

inline iso::surface_options order(int n, std::vector<double> values, int level = 1) {
  iso::surface_options o;
  o.order = n;
  o.values = std::move(values);
  o.level = level;
  return o;
}

/// White noise in [0, 1), the same on every machine.
inline double noise(double x, double y, double z) {
  auto h =
      static_cast<std::uint64_t>(std::llround(x * 64) + 4096 * std::llround(y * 64)) * 0x9e3779b97f4a7c15U;
  h ^= h >> 29U;
  h = (h + static_cast<std::uint64_t>(std::llround(z * 64))) * 0xbf58476d1ce4e5b9U;
  h ^= h >> 32U;
  h *= 0x94d049bb133111ebU;
  return static_cast<double>(h >> 40U) / 16777216.0;
}

}  // namespace test
