#include "trilinear.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "active_cells.hpp"
#include "case_table.hpp"
#include "first_user.hpp"
#include "node_slopes.hpp"

namespace isosurface {

namespace {

/// Bits of the edges on the low side of a cell along an axis, except those parallel to it.
constexpr unsigned low_side(std::size_t axis) {
  unsigned bits = 0;
  for (unsigned e = 0; e < 12; ++e)
    if (cube_edges[e].axis != axis && cube_edges[e].from[axis] == 0) bits |= 1U << e;
  return bits;
}
constexpr unsigned high_side(std::size_t axis) {
  unsigned bits = 0;
  for (unsigned e = 0; e < 12; ++e)
    if (cube_edges[e].axis != axis && cube_edges[e].from[axis] == 1) bits |= 1U << e;
  return bits;
}

/// Vertices have slots, eight per x: four of the edges along x of a cell, and of its edges with the
/// same x two along y and two along z. The slots of a cell are thus 16 in a row. Those with y = 1 are
/// those with y = 0 of the next row of cells, so the two change places from row to row.
constexpr std::size_t slots_per_x = 8, slots_per_cell = 2 * slots_per_x;
constexpr std::size_t slot_of(std::size_t edge, std::size_t odd_row) {
  auto const axis = edge / 4, low = edge % 2, high = edge / 2 % 2;
  return axis == 0   ? (low ^ odd_row) + 2 * high
         : axis == 1 ? 4 + high + slots_per_x * low
                     : 6 + (high ^ odd_row) + slots_per_x * low;
}

/// The triangles of a case, with slots in place of edges.
struct alignas(16) slot_case {
  std::array<std::uint8_t, 15> slots{};
  std::uint8_t triangles = 0;
};
using slot_table = std::array<slot_case, 256>;

std::array<slot_table, 2> const& slot_tables() {
  static auto const tables = [] {
    std::array<slot_table, 2> all;
    for (std::size_t odd = 0; odd < 2; ++odd)
      for (std::size_t i = 0; i < 256; ++i) {
        auto const& c = cube_cases()[i];
        all[odd][i].triangles = c.triangles;
        for (std::size_t k = 0; k < 3U * c.triangles; ++k)
          all[odd][i].slots[k] = static_cast<std::uint8_t>(slot_of(c.corners[k], odd));
      }
    return all;
  }();
  return tables;
}

constexpr std::array<std::uint8_t, 4096> bits_set = [] {
  std::array<std::uint8_t, 4096> all{};
  for (unsigned i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint8_t>(std::popcount(i));
  return all;
}();

constexpr unsigned all_edges = 0xfff;
constexpr std::size_t most_triangles = 5;  // of a cell

/// Writes the triangles of some cells one after the other; up to 16 indices are written for each, whether
/// used or not. Returns their end.
std::uint32_t* write_portable(std::span<active_cell const> cells, slot_table const& table,
                              std::uint32_t const* slots, std::uint32_t* to) {
  constexpr std::size_t usual = 12;
  for (auto const& cell : cells) {
    auto const& c = table[cell.above];
    auto const* const own = slots + slots_per_x * std::size_t{cell.x};
    for (std::size_t i = 0; i < usual; ++i) to[i] = own[c.slots[i]];
    if (3U * c.triangles > usual)
      for (auto i = usual; i < c.slots.size(); ++i) to[i] = own[c.slots[i]];
    to += 3U * c.triangles;
  }
  return to;
}

#ifdef __x86_64__
/// A cell's slots fill one register of AVX-512, so its indices are one permutation.
[[gnu::target("avx512f")]] std::uint32_t* write_avx512(std::span<active_cell const> cells,
                                                       slot_table const& table, std::uint32_t const* slots,
                                                       std::uint32_t* to) {
  for (auto const& cell : cells) {
    auto const& c = table[cell.above];
    auto const which = _mm512_cvtepu8_epi32(_mm_load_si128(reinterpret_cast<__m128i const*>(&c)));
    auto const own = _mm512_loadu_si512(slots + slots_per_x * std::size_t{cell.x});
    _mm512_storeu_si512(to, _mm512_permutexvar_epi32(which, own));
    to += 3U * c.triangles;
  }
  return to;
}
#endif

auto find_writer() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return write_avx512;
#endif
  return write_portable;
}
auto* const write_triangles = find_writer();

class extraction {
 public:
  extraction(node_grid const& grid, std::vector<double> const& values, layer_view const& layer, range rows)
      : grid_(grid),
        values_(values),
        layer_(layer),
        rows_(rows),
        lattice_(grid, 1),
        slopes_(grid, layer),
        slope_rows_(4, slope_row(grid.axis(0).at.size())),
        slots_(slots_per_x * (grid.axis(0).at.size() + 1)),
        cuts_(cube_edges.size() * (grid.axis(0).at.size() + 1)) {}

  piece_mesh run() {
    active_cells const cells(grid_, layer_, rows_, values_.size());
    mesh_.counts = cells.counts;
    make_room(cells);
    for (std::size_t v = 0; v < values_.size(); ++v) {
      value_ = values_[v];
      for (row_.number = rows_.first; row_.number < rows_.end; ++row_.number) {
        begin_row();
        if (auto const some = cells.of(v, row_.number); !some.empty()) add_row(some);
      }
      finish_part();
    }
    mesh_.positions.resize(made_.vertices);
    mesh_.normals.resize(made_.vertices);
    mesh_.triangles.resize(made_.triangles);
    mesh_.foreign.resize(made_.foreign);
    mesh_.above.resize(made_.above);
    mesh_.last_row.resize(made_.last_row);
    return std::move(mesh_);
  }

 private:
  /// Bits of edges, for a row of cells.
  struct edge_roles {
    unsigned seen = 0;      ///< vertices made by the row before
    unsigned foreign = 0;   ///< by another piece
    unsigned to_last = 0;   ///< used by the next piece
    unsigned to_above = 0;  ///< used by the next layer
  };
  struct counts {
    std::size_t vertices = 0, triangles = 0, foreign = 0, above = 0, last_row = 0;
  };
  struct cut_edge {
    std::uint32_t x;  ///< of its first end
    std::uint32_t vertex;
  };

  [[nodiscard]] edge_roles roles_of(std::size_t row) const {
    edge_roles r;
    auto const above = layer_.number() + 1;
    r.seen = row > rows_.first ? low_side(1) : 0U;
    r.foreign = (row == rows_.first && row > 0 ? low_side(1) : 0U) |
                (grid_.joined_below(layer_.number()) ? low_side(2) : 0U);
    r.to_last = row + 1 == rows_.end && row + 1 < grid_.axis(1).cells() ? high_side(1) : 0U;
    r.to_above = above < grid_.layers() && grid_.joined_below(above) ? high_side(2) : 0U;
    return r;
  }

  /// Counts what will be made: exactly, or with holes at most.
  void make_room(active_cells const& cells) {
    // Of each case, in 16 bits: vertices, foreign ones, those that the next layer uses, triangles.
    std::array<std::uint64_t, 256> of_case{};
    constexpr std::size_t most_cells = 4096;  // whose sums fit
    counts all;
    auto const& cases = cases_;
    auto const holes = layer_.has_holes();
    for (auto row = rows_.first; row < rows_.end; ++row) {
      auto const roles = roles_of(row);
      auto const seen = holes ? 0U : roles.seen, foreign = holes ? all_edges : roles.foreign & ~seen;
      auto const own = holes ? all_edges : all_edges & ~seen & ~foreign;
      auto const of = [&](unsigned edges, std::size_t triangles) {
        return bits_set[edges & own] | std::uint64_t{bits_set[edges & foreign]} << 16U |
               std::uint64_t{bits_set[edges & own & roles.to_above]} << 32U | std::uint64_t{triangles} << 48U;
      };
      if (row < rows_.first + 2)  // later ones are the same
        for (std::size_t i = 0; i < of_case.size(); ++i)
          of_case[i] = of(cases[i].edges & (holes ? all_edges : ~low_side(0)), cases[i].triangles);
      for (std::size_t v = 0; v < values_.size(); ++v) {
        auto rest = cells.of(v, row);
        if (roles.to_last != 0) all.last_row += 4 * rest.size();
        std::uint64_t first = 0;
        if (!rest.empty() && rest.front().x == 0) {
          auto const& c = cases[rest.front().above];
          first = of(c.edges, c.triangles);
          rest = rest.subspan(1);
        }
        for (bool more = true; more;) {
          auto const some = rest.first(std::min(rest.size(), most_cells));
          std::uint64_t sum = std::exchange(first, 0);
          for (auto const& cell : some) sum += of_case[cell.above];
          all.vertices += sum & 0xffffU;
          all.foreign += sum >> 16U & 0xffffU;
          all.above += sum >> 32U & 0xffffU;
          all.triangles += sum >> 48U;
          rest = rest.subspan(some.size());
          more = !rest.empty();
        }
      }
    }
    mesh_.positions.resize(all.vertices);
    mesh_.normals.resize(all.vertices);
    mesh_.triangles.resize(all.triangles + most_triangles + 1);
    mesh_.foreign.resize(all.foreign + 1);  // one place may be written in vain
    mesh_.above.resize(all.above + 1);
    mesh_.last_row.resize(all.last_row + 1);
  }

  void begin_row() {
    row_.roles = roles_of(row_.number);
    row_.odd = (row_.number - rows_.first) % 2;
    for (std::size_t s = 0; s < 2; ++s)
      for (std::size_t j = 0; j < 2; ++j) {
        row_.corners[j + 2 * s] = layer_.samples(layer_.number() + s, grid_.axis(1).sample[row_.number + j]);
        row_.slopes[j + 2 * s] = &slope_rows_[(j ^ row_.odd) + 2 * s];
        if (j == 1 || row_.number == rows_.first) std::ranges::fill(row_.slopes[j + 2 * s]->known, 0);
      }
    for (std::size_t e = 0; e < cube_edges.size(); ++e) {
      auto const& [axis, from] = cube_edges[e];
      row_.first_key[e] = lattice_.key(axis, from[0], row_.number + from[1], layer_.number() + from[2]);
      row_.cut[e] = row_.cut_end[e] = cuts_.data() + e * (grid_.axis(0).at.size() + 1);
    }
  }

  void add_row(std::span<active_cell const> cells) {
    if (layer_.has_holes() || row_.number == rows_.first) {
      for (auto const& cell : cells) number_any(cell);
    } else {
      auto const first = std::size_t{cells.front().x == 0 ? 1U : 0U};
      if (first == 1) number_any(cells.front());
      if (grid_.joined_below(layer_.number()))
        number_inner<true>(cells.subspan(first));
      else
        number_inner<false>(cells.subspan(first));
    }
    add_triangles(cells);
    for (auto const& cell : cells) mesh_.counts.polygons += cases_[cell.above].polygons;
    find_slopes(cells);
    for (std::size_t e = 0; e < cube_edges.size(); ++e) {
      if (cube_edges[e].axis == 0) add_vertices<0>(e);
      if (cube_edges[e].axis == 1) add_vertices<1>(e);
      if (cube_edges[e].axis == 2) add_vertices<2>(e);
    }
  }

  void finish_part() {
    auto const made = [](std::size_t now, std::size_t before) {
      return static_cast<std::uint32_t>(now - before);
    };
    mesh_.parts.push_back({made(made_.vertices, before_.vertices), made(made_.triangles, before_.triangles),
                           made(made_.foreign, before_.foreign), made(made_.above, before_.above),
                           made(made_.last_row, before_.last_row)});
    before_ = made_;
  }

  [[nodiscard]] edge_key key(std::size_t edge, std::size_t x) const { return row_.first_key[edge] + 3 * x; }

  /// Numbers the vertices on the edges of any cell.
  void number_any(active_cell const& cell) {
    auto const x = std::size_t{cell.x};
    unsigned fresh = cases_[cell.above].edges, foreign = row_.roles.foreign;
    if (layer_.has_holes())
      ask_for_users(x, fresh, foreign);
    else
      fresh &= ~(row_.roles.seen | (x > 0 ? low_side(0) : 0U));
    for (; fresh != 0; fresh &= fresh - 1) {
      auto const e = static_cast<std::size_t>(std::countr_zero(fresh));
      auto const has = [&](unsigned edges) { return ((edges >> e) & 1U) != 0; };
      auto& slot = slots_[slots_per_x * x + slot_of(e, row_.odd)];
      if (has(foreign)) {
        slot = foreign_bit<std::uint32_t> | static_cast<std::uint32_t>(made_.foreign - before_.foreign);
        mesh_.foreign[made_.foreign++] = key(e, x);
        continue;
      }
      slot = static_cast<std::uint32_t>(made_.vertices++ - before_.vertices);
      *row_.cut_end[e]++ = {static_cast<std::uint32_t>(x + cube_edges[e].from[0]), slot};
      if (has(row_.roles.to_above)) mesh_.above[made_.above++] = {key(e, x), slot};
      if (has(row_.roles.to_last)) mesh_.last_row[made_.last_row++] = {key(e, x), slot};
    }
  }

  /// If neighbours may be holes, a vertex that they would have made may be missing.
  void ask_for_users(std::size_t x, unsigned& fresh, unsigned& foreign) const {
    foreign = 0;
    for (unsigned e = 0; e < 12; ++e) {
      if (((fresh >> e) & 1U) == 0) continue;
      place_in_cell place{};
      for (std::size_t a = 0; a < 3; ++a)
        if (a != cube_edges[e].axis) place[a] = cube_edges[e].from[a] == 0 ? -1 : 1;
      if (!grid_.joined_below(layer_.number())) place[2] = std::max(place[2], 0);
      auto const user = find_first_user(layer_, rows_, row_.number, x, place,
                                        {grid_.axis(0).cells(), grid_.axis(1).cells()});
      if (user == first_user::this_piece) fresh &= ~(1U << e);
      if (user == first_user::other_piece) foreign |= 1U << e;
    }
  }

  /// The same for cells with neighbours on the low sides in x and y. No branch depends on the case:
  /// whether an edge is cut decides how far the ends of lists move.
  template <bool Joined>
  void number_inner(std::span<active_cell const> cells) {
    auto const& cases = cases_;
    auto const high_y = 1 - row_.odd;
    auto vertex = static_cast<std::uint32_t>(made_.vertices - before_.vertices);
    auto foreign_vertex = static_cast<std::uint32_t>(made_.foreign - before_.foreign);
    auto* foreign = mesh_.foreign.data() + made_.foreign;
    auto* above = mesh_.above.data() + made_.above;
    auto* last = mesh_.last_row.data() + made_.last_row;
    auto const keys = row_.first_key;
    auto cut = row_.cut_end;
    auto const is_last = row_.roles.to_last != 0;
    std::uint32_t const is_shared = row_.roles.to_above != 0 ? 1 : 0;
    for (auto const& cell : cells) {
      unsigned const edges = cases[cell.above].edges;
      auto* const slots = slots_.data() + slots_per_x * std::size_t{cell.x};
      auto const own = [&](std::size_t e, std::size_t slot) {
        std::uint32_t const is_cut = (edges >> e) & 1U;
        slots[slot] = vertex;
        *cut[e] = {cell.x + cube_edges[e].from[0], vertex};
        cut[e] += is_cut;
        auto const edge = keys[e] + 3 * std::size_t{cell.x};
        if (cube_edges[e].axis != 2 && cube_edges[e].from[2] == 1) {
          *above = {edge, vertex};
          above += is_cut & is_shared;
        }
        if (cube_edges[e].axis != 1 && cube_edges[e].from[1] == 1 && is_last) {
          *last = {edge, vertex};
          last += is_cut;
        }
        vertex += is_cut;
      };
      auto const of_layer_below = [&](std::size_t e, std::size_t slot) {
        if (!Joined) return own(e, slot);
        std::uint32_t const is_cut = (edges >> e) & 1U;
        slots[slot] = foreign_bit<std::uint32_t> | foreign_vertex;
        *foreign = keys[e] + 3 * std::size_t{cell.x};
        foreign += is_cut;
        foreign_vertex += is_cut;
      };
      of_layer_below(1, high_y);
      own(3, 2 + high_y);
      of_layer_below(5, slot_of(5, 0));
      own(7, slot_of(7, 0));
      own(11, slots_per_x + 6 + high_y);
    }
    row_.cut_end = cut;
    made_.vertices = before_.vertices + vertex;
    made_.foreign = before_.foreign + foreign_vertex;
    made_.above = static_cast<std::size_t>(above - mesh_.above.data());
    made_.last_row = static_cast<std::size_t>(last - mesh_.last_row.data());
  }

  void add_triangles(std::span<active_cell const> cells) {
    auto* const to = mesh_.triangles[made_.triangles].data();
    auto const* const end = write_triangles(cells, slot_tables()[row_.odd], slots_.data(), to);
    made_.triangles += static_cast<std::size_t>(end - to) / 3;
  }

  void find_slopes(std::span<active_cell const> cells) {
    constexpr std::uint32_t block = slope_row::block;
    auto const find = [this](range blocks) {
      for (std::size_t i = 0; i < 4; ++i)
        slopes_.find(blocks, row_.number + i % 2, layer_.number() + i / 2, *row_.slopes[i]);
    };
    std::uint32_t first = cells.front().x / block, end = first;  // a run of blocks
    for (auto const [x, above] : cells) {
      if (x + 1 < end * block) continue;
      if (x / block > end) find({first, end}), first = x / block;
      end = (x + 1) / block + 1;
    }
    find({first, end});
  }

  /// Computes the vertices on all cut edges of one kind in this row.
  template <std::size_t Axis>
  void add_vertices(std::size_t edge) {
    auto const &xs = grid_.axis(0), &ys = grid_.axis(1), &zs = grid_.axis(2);
    auto const [axis, from] = cube_edges[edge];
    std::size_t const low = from[1] + 2U * from[2], high = low + (Axis == 0 ? 0 : Axis);
    constexpr std::size_t step = Axis == 0 ? 1 : 0;
    auto const *const low_samples = row_.corners[low], *const high_samples = row_.corners[high];
    auto const &low_slopes = row_.slopes[low]->along, &high_slopes = row_.slopes[high]->along;
    auto const y = row_.number + from[1], z = layer_.number() + from[2];
    point const at{0, static_cast<float>(ys.at[y]), static_cast<float>(zs.at[z])};
    auto* const positions = mesh_.positions.data() + before_.vertices;
    auto* const normals = mesh_.normals.data() + before_.vertices;
    for (auto const* c = row_.cut[edge]; c != row_.cut_end[edge]; ++c) {
      auto const x = std::size_t{c->x};
      double const a = low_samples[xs.sample[x]], b = high_samples[xs.sample[x + step]];
      double const t = (value_ - a) / (b - a);
      auto& p = positions[c->vertex];
      p[0] = static_cast<float>(xs.at[x]);
      p[1] = at[1];
      p[2] = at[2];
      if (Axis == 0) p[0] = static_cast<float>(std::lerp(xs.at[x], xs.at[x + 1], t));
      if (Axis == 1) p[1] = static_cast<float>(std::lerp(ys.at[y], ys.at[y + 1], t));
      if (Axis == 2) p[2] = static_cast<float>(std::lerp(zs.at[z], zs.at[z + 1], t));
      vector3 n;
      for (std::size_t i = 0; i < 3; ++i) {
        double const g = low_slopes[i][x];
        n[i] = -(g + t * (high_slopes[i][x + step] - g));
      }
      normals[c->vertex] = normalized(n);
    }
  }

  node_grid const& grid_;
  std::vector<double> const& values_;
  layer_view const& layer_;
  range rows_;
  std::array<cube_case, 256> const& cases_ = cube_cases();
  edge_lattice lattice_;
  node_slopes slopes_;
  std::vector<slope_row> slope_rows_;  // of the rows of nodes of a row of cells: y + 2 z, y as in slots
  std::vector<std::uint32_t> slots_;
  std::vector<cut_edge> cuts_;  // room for one row
  piece_mesh mesh_;

  // State of the current value:
  double value_ = 0;
  counts made_, before_;  // of all values, and of those before the current one
  struct {
    std::size_t number = 0;
    std::size_t odd = 0;
    edge_roles roles;
    std::array<float const*, 4> corners{};  // rows of samples
    std::array<slope_row*, 4> slopes{};
    std::array<edge_key, 12> first_key{};  // of the edges of a cell at x = 0
    // The edges of each kind that are cut in this row and whose vertices this piece makes.
    std::array<cut_edge*, 12> cut{}, cut_end{};
  } row_;
};

}  // namespace

piece_mesh extract_trilinear(node_grid const& grid, std::vector<double> const& values,
                             layer_view const& layer, range rows) {
  return extraction(grid, values, layer, rows).run();
}

}  // namespace isosurface
