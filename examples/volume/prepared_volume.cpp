#include "prepared_volume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "camera.hpp"
#include "skel/error.hpp"

namespace volume {

namespace {

value_range range_of(volume_data::grid const& grid) {
  range_finder finder;
  std::vector<double> exact(grid.header.slice_samples());
  for (std::size_t z = 0; z < grid.header.size[2]; ++z) {
    volume_data::convert(
        grid.header.type,
        std::span(grid.values).subspan(z * grid.header.slice_bytes(), grid.header.slice_bytes()),
        std::span<double>(exact));
    finder.add(exact);
  }
  return finder.result();
}

whole_grid whole_of(volume_data::grid const& grid) {
  auto const [least, most, has_values] = range_of(grid);
  return {grid.header.coordinates, least, most, has_values, {}, {}};
}

}  // namespace

void range_finder::add(std::span<double const> values) {
  for (auto const v : values) {
    if (!std::isfinite(v)) continue;
    least_ = std::min(least_, v);
    most_ = std::max(most_, v);
  }
}

value_range range_finder::result() const {
  if (!(least_ <= most_)) return {0, 1, false};
  return {least_, least_ == most_ ? least_ + 1 : most_, true};
}

prepared_volume::prepared_volume(volume_data::grid const& grid, specification const& spec)
    : part_{0, grid.header.size[2] - 1} {
  prepare(grid, spec, whole_of(grid));
}

prepared_volume::prepared_volume(volume_data::grid const& planes, specification const& spec,
                                 whole_grid const& whole, slab const& part)
    : part_(part) {
  prepare(planes, spec, whole);
  for (std::size_t d = 0; d < 3; ++d) {
    view_.box_low[d] = whole.box_low[d];
    view_.box_high[d] = whole.box_high[d];
  }
}

void prepared_volume::prepare(volume_data::grid const& grid, specification const& spec,
                              whole_grid const& whole) {
  auto const& n = grid.header.size;
  for (std::size_t d = 0; d < 3; ++d)
    if (n[d] < 2 || whole.coordinates[d].size() < 2)
      throw skel::usage_error(fmt::format("{}: {} x {} x {} points, expected at least two along each axis",
                                          grid.header.name, n[0], n[1], n[2]));
  if (grid.header.samples() > std::numeric_limits<std::int32_t>::max() / 4)
    throw skel::usage_error(fmt::format("{}: {} points, expected at most 536870911; see --slabs",
                                        grid.header.name, grid.header.samples()));
  has_values_ = whole.has_values;
  stretch(whole.coordinates, spec, grid.header.name);
  scale_values(grid, spec, whole.least, whole.most);
  lay_out_pieces();
  lay_out_axes();
  find_visible_cells();
  if (spec.light) find_gradients();
  set_light(spec);
}

void prepared_volume::stretch(std::array<std::vector<double>, 3> const& coordinates,
                              specification const& spec, std::string const& name) {
  for (std::size_t d = 0; d < 3; ++d) {
    auto const& from = coordinates[d];
    extent_.low[d] = from.front() * spec.stretch[d];
    for (auto const c : from) extent_.planes[d].push_back((c - from.front()) * spec.stretch[d]);
    extent_.sides[d] = extent_.planes[d].back();
    for (std::size_t i = 1; i < from.size(); ++i)
      if (!(static_cast<float>(extent_.planes[d][i - 1]) < static_cast<float>(extent_.planes[d][i])))
        throw skel::usage_error(fmt::format(
            "{}: coordinates {} and {} along axis {} are too close for single precision", name, i - 1, i, d));
  }
  extent_.diagonal = std::sqrt(dot(extent_.sides, extent_.sides));
}

void prepared_volume::scale_values(volume_data::grid const& grid, specification const& spec, double least,
                                   double most) {
  auto const samples = grid.header.samples();
  values_.resize(samples + 1);  // pairs are loaded; the partner of the last corner is padding
  auto const slice = grid.header.slice_samples();
  std::vector<double> exact(slice);
  mapping_ = std::make_unique<volume::mapping>(spec.mapping, least, most,
                                               spec.mapping.unit.value_or(extent_.diagonal / 100));
  for (std::size_t z = 0; z < grid.header.size[2]; ++z) {
    volume_data::convert(
        grid.header.type,
        std::span(grid.values).subspan(z * grid.header.slice_bytes(), grid.header.slice_bytes()),
        std::span<double>(exact));
    for (std::size_t i = 0; i < slice; ++i) {
      auto const scaled = static_cast<float>(mapping_->scaled(exact[i]));
      bool const missing = !std::isfinite(scaled);
      values_[z * slice + i] = missing ? 0 : scaled;
      if (missing && missing_.empty()) missing_.assign(samples, 0);
      if (missing) missing_[z * slice + i] = 1;
    }
  }
  ahead_ = (part_.first - part_.first_plane()) * slice;
  view_.values = values_.data() + ahead_;
  view_.stride[0] = 1;
  view_.stride[1] = static_cast<int>(grid.header.size[0]);
  view_.stride[2] = static_cast<int>(slice);
  view_.first_slice = static_cast<int>(part_.first);
  view_.end_slice = static_cast<int>(part_.end);
  view_.tolerance = static_cast<float>(spec.tolerance);
  view_.jumps = mapping_->opacity_jumps();
  view_.least_bend = view_.jumps ? 0 : view_.tolerance;
  // An opaque part behind a jump shows its front, where no mean bend is right.
  view_.most_bend = (view_.jumps ? 1 : 64) * view_.tolerance;
  view_.least_transparency = static_cast<float>(1 - spec.visibility_limit);
}

void prepared_volume::lay_out_pieces() {
  auto const& from = mapping_->pieces();
  auto const groups = (from.size() + 7) / 8;
  tables_.pieces.assign(8 * columns * groups, 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    auto const& p = from[i];
    float const row[columns] = {p.lower, p.upper, p.knot,  p.k0,    p.k1,   p.c0[0],
                                p.c0[1], p.c0[2], p.c1[0], p.c1[1], p.c1[2]};
    for (std::size_t c = 0; c < columns; ++c) tables_.pieces[8 * (i / 8 * columns + c) + i % 8] = row[c];
  }
  view_.pieces = {static_cast<int>(from.size()), static_cast<int>(groups), tables_.pieces.data()};
}

void prepared_volume::lay_out_axes() {
  constexpr float infinite = std::numeric_limits<float>::infinity();
  for (std::size_t d = 0; d < 3; ++d) {
    auto const& p = extent_.planes[d];
    auto const cells = p.size() - 1;
    view_.first_cell[d] = static_cast<int>(tables_.axes.size());
    view_.cell_count[d] = static_cast<int>(cells);
    for (std::size_t i = 0; i < cells; ++i) {
      auto const low = static_cast<float>(p[i]), high = static_cast<float>(p[i + 1]);
      tables_.axes.push_back(
          {low, 1 / (high - low), i + 1 == cells ? infinite : high, i == 0 ? -infinite : low});
    }
    // One cell per even step: the cell at its lower end.
    auto const steps = std::min<std::size_t>(4 * cells, 1U << 20);
    auto& finder = tables_.finders[d];
    for (std::size_t s = 0, cell = 0; s < steps; ++s) {
      double const at = extent_.sides[d] * static_cast<double>(s) / static_cast<double>(steps);
      while (cell + 1 < cells && p[cell + 1] <= at) ++cell;
      finder.push_back(static_cast<int>(cell));
    }
    view_.finders[d] = finder.data();
    view_.find_count[d] = static_cast<int>(steps);
    view_.find_scale[d] = static_cast<float>(static_cast<double>(steps) / extent_.sides[d]);
  }
  view_.axes = tables_.axes.data();
}

void prepared_volume::find_visible_cells() {
  auto const& stride = view_.stride;
  // Only the slab's own layers, counted from its first; blocks are aligned to the whole grid.
  std::array<int, 3> const cells{view_.cell_count[0], view_.cell_count[1], static_cast<int>(part_.layers())};
  auto const begins = static_cast<int>(part_.first), first_block = begins >> block_shift;
  cells_.assign(values_.size() - ahead_, 0);
  auto const each_cell = [&](auto const& f) {
    for (int z = 0; z < cells[2]; ++z)
      for (int y = 0; y < cells[1]; ++y)
        for (int x = 0; x < cells[0]; ++x)
          f(std::array<int, 3>{x, y, z + begins},
            static_cast<std::size_t>(x) + static_cast<std::size_t>(y) * static_cast<std::size_t>(stride[1]) +
                static_cast<std::size_t>(z) * static_cast<std::size_t>(stride[2]));
  };
  std::array<int, 3> const count{(cells[0] >> block_shift) + 1, (cells[1] >> block_shift) + 1,
                                 ((begins + cells[2]) >> block_shift) - first_block + 1};
  std::vector<std::uint8_t> blocks(static_cast<std::size_t>(count[0]) * static_cast<std::size_t>(count[1]) *
                                   static_cast<std::size_t>(count[2]));
  auto const block_of = [&](std::array<int, 3> const& cell) {
    return static_cast<std::size_t>(cell[0] >> block_shift) +
           static_cast<std::size_t>(count[0]) *
               (static_cast<std::size_t>(cell[1] >> block_shift) +
                static_cast<std::size_t>(count[1]) *
                    static_cast<std::size_t>((cell[2] >> block_shift) - first_block));
  };
  std::array<int, 3> first{view_.cell_count[0], view_.cell_count[1], view_.cell_count[2]}, last{-1, -1, -1};
  each_cell([&](std::array<int, 3> const& cell, std::size_t at) {
    if (!shows(at + ahead_)) return;
    cells_[at] = visible_cell;
    blocks[block_of(cell)] = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      first[d] = std::min(first[d], cell[d]);
      last[d] = std::max(last[d], cell[d]);
    }
  });
  measure_distances(blocks, count);
  each_cell([&](std::array<int, 3> const& cell, std::size_t at) {
    if (cells_[at] != visible_cell) cells_[at] = blocks[block_of(cell)];
  });
  for (std::size_t d = 0; d < 3; ++d) {
    bool const none = last[d] < 0;
    if (!none) {
      own_box_.low[d] = static_cast<float>(extent_.planes[d][static_cast<std::size_t>(first[d])]);
      own_box_.high[d] = static_cast<float>(extent_.planes[d][static_cast<std::size_t>(last[d]) + 1]);
    }
    view_.box_low[d] = own_box_.low[d];
    view_.box_high[d] = own_box_.high[d];
  }
  visible_.assign(cells_.size() / 8 + 4, 0);  // read four bytes at a time
  for (std::size_t i = 0; i < cells_.size(); ++i)
    if (cells_[i] == visible_cell) visible_[i / 8] |= static_cast<std::uint8_t>(1U << (i % 8));
  view_.cells = cells_.data();
  view_.visible = visible_.data();
}

/// Whether the mapping gives a cell extinction, judged by the values at its corners, the lowest of
/// which is `at`.
bool prepared_volume::shows(std::size_t at) const {
  auto const& stride = view_.stride;
  float least = values_[at], most = least;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    auto const i = at + (corner & 1) + (corner >> 1 & 1) * static_cast<std::size_t>(stride[1]) +
                   (corner >> 2) * static_cast<std::size_t>(stride[2]);
    if (!missing_.empty() && missing_[i] != 0) return false;
    least = std::min(least, values_[i]);
    most = std::max(most, values_[i]);
  }
  return mapping_->visible(least, most);
}

/// Replaces 1 (visible) and 0 by the distance to the nearest visible block, the maximum over the
/// axes, at most 254. One pass forwards and one backwards over all 26 neighbours give it exactly
/// (Rosenfeld and Pfaltz 1966, chessboard distance).
void prepared_volume::measure_distances(std::vector<std::uint8_t>& blocks, std::array<int, 3> const& count) {
  for (auto& b : blocks) b = b != 0 ? 0 : 254;
  auto const [nx, ny, nz] = count;
  auto const at = [&](int x, int y, int z) -> std::uint8_t& {
    return blocks[static_cast<std::size_t>(x) +
                  static_cast<std::size_t>(nx) *
                      (static_cast<std::size_t>(y) +
                       static_cast<std::size_t>(ny) * static_cast<std::size_t>(z))];
  };
  auto const look = [&](int x, int y, int z,
                        int way) {  // looks at the 13 neighbours that the pass has visited
    auto& own = at(x, y, z);
    for (int n = 1; n < 14; ++n) {
      int const i = x + way * ((n + 13) % 3 - 1), j = y + way * ((n + 13) / 3 % 3 - 1),
                k = z + way * ((n + 13) / 9 - 1);
      if (i < 0 || i >= nx || j < 0 || j >= ny || k < 0 || k >= nz) continue;
      own = static_cast<std::uint8_t>(std::min<int>(own, at(i, j, k) + 1));
    }
  };
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) look(x, y, z, -1);
  for (int z = nz; z-- > 0;)
    for (int y = ny; y-- > 0;)
      for (int x = nx; x-- > 0;) look(x, y, z, 1);
}

/// Uses second-order differences that account for uneven spacing.
void prepared_volume::find_gradients() {
  auto const points = values_.size() - 1;
  gradients_.assign(4 * (points + 1), 0);
  for (std::size_t d = 0; d < 3; ++d) {
    auto const& p = extent_.planes[d];
    auto const stride = static_cast<std::size_t>(view_.stride[d]);
    // Along z only the planes of this slab; the planes on both sides of it serve its own gradients.
    auto const begin = d == 2 ? part_.first_plane() : 0;
    auto const end = d == 2 ? part_.end_plane(p.size()) : p.size();
    for (std::size_t at = 0; at < points; ++at) {
      auto const i = begin + at / stride % (end - begin);
      auto const value = [&](std::size_t k) {
        return static_cast<double>(values_[at + k * stride - i * stride]);
      };
      double slope = 0;
      if (i == 0 || i + 1 == p.size()) {
        auto const a = i == 0 ? 0 : i - 1;
        slope = (value(a + 1) - value(a)) / (p[a + 1] - p[a]);
      } else if (i == begin || i + 1 == end) {
        continue;
      } else {
        double const h0 = p[i] - p[i - 1], h1 = p[i + 1] - p[i];
        slope = (h0 * h0 * value(i + 1) - h1 * h1 * value(i - 1) + (h1 * h1 - h0 * h0) * value(i)) /
                (h0 * h1 * (h0 + h1));
      }
      gradients_[4 * at + d] = static_cast<float>(slope * extent_.diagonal);
    }
  }
  view_.gradients = gradients_.data() + 4 * ahead_;
}

void prepared_volume::set_light(specification const& spec) {
  for (std::size_t c = 0; c < 3; ++c) view_.fog[c] = spec.attenuation.color[c];
  view_.fog_density = static_cast<float>(spec.attenuation.density / extent_.diagonal);
  if (!spec.light) return;
  view_.light_from_eye = !spec.light->direction;
  if (spec.light->direction) {
    auto const l = normalized(*spec.light->direction);
    for (std::size_t d = 0; d < 3; ++d) view_.light[d] = static_cast<float>(l[d]);
  }
  view_.ambient = static_cast<float>(spec.light->ambient);
  view_.diffuse = static_cast<float>(spec.light->diffuse);
  view_.specular = static_cast<float>(spec.light->specular);
  view_.shininess = spec.light->shininess;
  view_.light_samples = spec.light->samples;
}

std::size_t prepared_volume::memory() const noexcept {
  return values_.size() * sizeof(float) + gradients_.size() * sizeof(float) + cells_.size() +
         visible_.size() + missing_.size() + tables_.axes.size() * sizeof(axis_cell);
}

}  // namespace volume
