// The mesh does not depend on how the work is divided; volumes with holes and too few samples.
#include <vector>

#include "catch.hpp"
#include "fewer.hpp"
#include "sampled.hpp"
#include "skel/error.hpp"
#include "topology.hpp"

namespace {

double bumps(double x, double y, double z) {
  return std::sin(0.9 * x) + std::cos(0.7 * y + 0.1 * x) + std::sin(0.8 * z + 1) + 0.3 * test::noise(x, y, z);
}

/// Bad samples, single and in groups, also at the box and in the corner of a slice.
double with_bad_samples(double x, double y, double z) {
  double const dice = test::noise(x + 100, y, z);
  if (dice < 0.02) return NAN;
  if (dice < 0.03) return INFINITY;
  if (z == 5 && x < 4 && y < 4) return -INFINITY;
  return bumps(x, y, z);
}

}  // namespace

TEST_CASE("the mesh is the same for every share, packet and height of pieces, and after transfer") {
  auto const [order, tolerance] = GENERATE(std::pair{1, 0.0}, std::pair{3, 0.0}, std::pair{3, 0.05});
  auto const f = GENERATE(0, 1) == 0 ? bumps : with_bad_samples;
  auto const open = test::volume(test::counted({14, 11, 9}), f,
                                 GENERATE(test::rows_of::volume, test::rows_of::decoded_slice));
  auto o = test::order(order, {-0.5, 0.1, 0.8});
  o.tolerance = tolerance;
  o.step = GENERATE(1U, 3U);
  o.rule = GENERATE(test::iso::difference_rule::second, test::iso::difference_rule::fourth,
                    test::iso::difference_rule::paper);
  auto const whole = test::model(open, o);
  CHECK(whole.counts.slices_read == 9);
  REQUIRE(whole.mesh.triangles.size() > (o.step > 1 || o.tolerance > 0 ? 5U : f == bumps ? 500U : 20U));
  std::vector<std::size_t> const heights =
      test::slow ? std::vector<std::size_t>{2} : std::vector<std::size_t>{1, 2, 3, 7};
  for (std::size_t const rows : heights)
    for (auto const& how :
         {test::partition{}, test::partition{1, 1, true}, test::partition{4, 1, true, {}, true},
          test::partition{2, 2, false, {}, true}, test::partition{3, 2, true, {7, 6, 5, 4, 3, 2, 1, 0}},
          test::partition{3, 2, false, {4, 0, 5, 2, 6, 7, 3, 1}}}) {
      o.rows_per_piece = rows;
      auto const m = test::model(open, o, how);
      CAPTURE(o.order, o.tolerance, rows, how.share);
      CHECK(test::same(m.mesh, whole.mesh));
      CHECK(m.counts.holes == whole.counts.holes);
      CHECK((m.counts.slices_read > 9) == (how.share < 9));
      CHECK(m.counts.polygons == whole.counts.polygons);
      CHECK(m.counts.unresolved == whole.counts.unresolved);
    }
}

TEST_CASE(
    "the layers before a share: three slices are read again; one more at order 3 where there may be holes") {
  auto const f = GENERATE(0, 1) == 0 ? bumps : with_bad_samples;
  auto const open = test::volume(test::counted({14, 11, 9}), f);
  CHECK(test::model(open, test::order(1, {0.1}), {4}).counts.slices_read == 9 + 3);
  CHECK(test::model(open, test::order(3, {0.1}), {4}).counts.slices_read == 9 + 4);
}

TEST_CASE("rows leave when the first samples are read, and samples that no row needs are not read") {
  auto const order = GENERATE(1, 3);
  constexpr std::size_t nx = 13, ny = 100;
  std::size_t read = 0;
  auto const open = test::volume(test::counted({nx, ny, 9}), [&](double x, double y, double z) {
    ++read;
    return bumps(x, y, z);
  });
  auto o = test::order(order, {0.1});
  o.step = 3;
  o.rows_per_piece = 1;
  test::iso::node_grid const grid(open()->header(), o);
  test::iso::modeler const job(grid, o, open);
  test::iso::modeler::carried carried;
  test::iso::modeler::unit unit;
  std::size_t at_first = 0, announced = 0;
  auto const ready = [&](std::uint64_t n) {
    CHECK(n == ++announced);
    if (n == 1) at_first = read;
  };
  // Layer 4 of a share that begins there: slices 3 to 6, and at order 3 also 2 for the holes below.
  REQUIRE(job.read(4, carried, unit, ready) == 33);
  CHECK(announced == 32);  // the last row is announced by the return
  // Three rows of nodes: 8 rows of samples. At order 1, slices 3 and 6 only serve differences along z.
  CHECK(at_first == nx * (order == 1 ? 2 * 8 + 2 * 3 : 5 * 8));
  CHECK(read == nx * (order == 1 ? 2 * ny + 2 * 34 : 5 * ny));
  CHECK(unit.slices_read == (order == 1 ? 4 : 5));
  // The next layer: all of slice 6, and of slice 7 what layer 5 needs of it.
  read = 0;
  REQUIRE(job.read(5, carried, unit) == 33);
  CHECK(read == nx * (order == 1 ? ny + 34 : ny));
  CHECK(unit.slices_read == 1);
  // From now on the rows of nodes are kept until the rest is read.
  read = 0;
  REQUIRE(job.read(6, carried, unit) == 33);
  CHECK(read == nx * (order == 1 ? ny - 34 + 34 : ny));
  CHECK(unit.slices_read == 1);
}

TEST_CASE("holes: no polygon touches a cell that depends on a bad sample, all others are unchanged") {
  auto const order = GENERATE(1, 3);
  auto const step = GENERATE(std::size_t{1}, std::size_t{2});
  std::array<std::size_t, 3> const n{15, 11, 9};
  auto o = test::order(order, {0.1});
  o.step = step;
  auto const good = test::model(test::volume(test::counted(n), bumps), o).mesh;
  auto const bad = test::model(test::volume(test::counted(n), with_bad_samples), o);
  // Whether a cell is a hole, judged by all surrounding samples.
  auto const is_hole = [&](std::array<std::size_t, 3> const& cell) {
    for (std::size_t i = 0; i < 8; ++i) {
      std::array<std::size_t, 3> const node{(cell[0] + i % 2) * step, (cell[1] + i / 2 % 2) * step,
                                            cell[2] + i / 4};
      std::array<long, 3> first{}, last{};
      for (std::size_t a = 0; a < 3; ++a) {
        auto const at = static_cast<long>(node[a]), end = static_cast<long>(n[a]) - 1;
        first[a] = order == 1 ? at : std::clamp(at - 1, 0L, end - 2);
        last[a] = order == 1 ? at : std::clamp(at + 1, 2L, end);
      }
      for (long z = first[2]; z <= last[2]; ++z)
        for (long y = first[1]; y <= last[1]; ++y)
          for (long x = first[0]; x <= last[0]; ++x)
            if (!std::isfinite(
                    with_bad_samples(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z))))
              return true;
    }
    return false;
  };
  auto const cell_of = [&](test::mesh const& m, std::array<std::uint32_t, 3> const& t) {
    std::array<std::size_t, 3> cell{};
    for (std::size_t a = 0; a < 3; ++a) {
      double const middle = (double{m.positions[t[0]][a]} + m.positions[t[1]][a] + m.positions[t[2]][a]) / 3;
      cell[a] = static_cast<std::size_t>(middle / (a < 2 ? static_cast<double>(step) : 1.0));
    }
    return cell;
  };
  std::size_t expected = 0;
  for (auto const& t : good.triangles) expected += is_hole(cell_of(good, t)) ? 0 : 1;
  CHECK(bad.mesh.triangles.size() == expected);
  for (auto const& t : bad.mesh.triangles) CHECK_FALSE(is_hole(cell_of(bad.mesh, t)));
  std::uint64_t holes = 0;
  for (std::size_t z = 0; z + 1 < n[2]; ++z)
    for (std::size_t y = 0; y < (n[1] - 1) / step; ++y)
      for (std::size_t x = 0; x < (n[0] - 1) / step; ++x) holes += is_hole({x, y, z}) ? 1 : 0;
  CHECK(bad.counts.holes == holes);
  CHECK(holes > 10);
  CHECK(test::look_at(bad.mesh).manifold);
  for (auto const& v : bad.mesh.normals) CHECK(std::hypot(v[0], v[1], v[2]) == Approx(1));
}

TEST_CASE("a mesh ends before the first missing layer; pieces of a layer arrive once each, in order") {
  auto const open = test::volume(test::counted({8, 7, 6}), bumps);
  auto o = test::order(1, {0.1});
  auto const whole = test::model(open, o).mesh;
  o.rows_per_piece = 3;  // two pieces
  test::iso::node_grid const grid(open()->header(), o);
  test::iso::edge_lattice const lattice(grid, o.edges_per_cell());
  test::iso::modeler const job(grid, o, open);
  test::iso::mesh_builder builder(grid, lattice, o.values);
  test::iso::modeler::carried carried;
  for (std::size_t layer = 0; layer < 5; ++layer) {
    test::iso::modeler::unit unit;
    REQUIRE(job.read(layer, carried, unit) == 2);
    auto const packet = job.cut(unit, 0, 2);
    if (layer == 3) continue;
    if (layer == 4) CHECK_THROWS_AS(builder.add(layer, 1, job.process(packet, 1)), skel::error);
    builder.add(layer, 0, job.process(packet, 0));
    CHECK_THROWS_AS(builder.add(layer, 0, job.process(packet, 0)), skel::error);
    builder.add(layer, 1, job.process(packet, 1));
    CHECK_THROWS_AS(builder.add(layer, 1, job.process(packet, 1)), skel::error);
  }
  auto const m = builder.finish();
  auto const begins = [](auto const& part, auto const& all) {
    return part.size() < all.size() && std::ranges::equal(part, std::span(all).first(part.size()));
  };
  auto const [low, high] = std::ranges::minmax(m.positions, {}, [](auto const& p) { return p[2]; });
  CHECK(low[2] == 0);
  CHECK(high[2] == 3);
  CHECK(begins(m.triangles, whole.triangles));
  CHECK(begins(m.positions, whole.positions));
  CHECK(begins(m.normals, whole.normals));
}

namespace {

/// A mesh that was sent, and another that refers to the message at an odd address.
std::array<test::iso::piece_mesh, 2> sent(test::iso::piece_mesh const& m, std::size_t* bytes = nullptr) {
  auto const message = std::make_shared<std::vector<std::byte>>(1);
  skel::pack(m, *message);
  if (bytes != nullptr) *bytes = message->size() - 1;
  std::array<test::iso::piece_mesh, 2> all;
  for (std::size_t i = 0; i < 2; ++i) {
    auto in = std::span<std::byte const>(*message).subspan(1);
    all[i] =
        i == 0 ? skel::unpack<test::iso::piece_mesh>(in) : skel::unpack<test::iso::piece_mesh>(in, message);
    CHECK(in.empty());
  }
  return all;
}

/// Returns a layer of one piece as a mesh, from the piece or from its message.
test::mesh mesh_of(test::iso::node_grid const& grid, test::iso::surface_options const& o,
                   test::iso::piece_mesh m) {
  test::iso::edge_lattice const lattice(grid, o.edges_per_cell());
  test::iso::mesh_builder builder(grid, lattice, o.values);
  builder.add(0, 0, std::move(m));
  return builder.finish();
}

}  // namespace

TEST_CASE("pieces are sent with indices of 16 bits, large ones with 32; both may be forwarded") {
  auto const large = GENERATE(false, true);
  auto const n = large ? std::size_t{160} : std::size_t{20};
  auto const open = test::volume(test::counted({n, n, 2}),
                                 [](double x, double y, double z) { return test::noise(x, y, z) - 0.5; });
  auto o = test::order(1, {-0.1, 0.1});
  o.rows_per_piece = n;
  test::iso::node_grid const grid(open()->header(), o);
  test::iso::modeler const job(grid, o, open);
  test::iso::modeler::carried carried;
  test::iso::modeler::unit unit;
  REQUIRE(job.read(0, carried, unit) == 1);
  auto const m = job.process(job.cut(unit, 0, 1), 0);
  CHECK((m.parts[0].vertices > 0x8000) == large);
  std::size_t bytes = 0;
  auto const whole = mesh_of(grid, o, m);
  for (auto const& once : sent(m, &bytes)) {
    CHECK(once.surface().narrow != large);
    CHECK(once.surface().triangles.size() == m.triangles.size() * (large ? 12 : 6));
    CHECK(test::same(mesh_of(grid, o, once), whole));
    for (auto const& twice : sent(once)) CHECK(test::same(mesh_of(grid, o, twice), whole));
  }
  CHECK(bytes == 56 + 2 * 20 + 24 * m.positions.size() + (large ? 12 : 6) * m.triangles.size() +
                     (large ? 12 : 6) * (m.above.size() + m.last_row.size()) +
                     (large ? 8 : 4) * m.foreign.size());
}

TEST_CASE("damaged pieces are refused by the message or by the mesh, without out-of-bounds reads") {
  auto const open = test::volume(test::counted({9, 8, 3}), bumps);
  auto o = test::order(1, {0.1, 0.5});
  o.rows_per_piece = 7;
  test::iso::node_grid const grid(open()->header(), o);
  test::iso::modeler const job(grid, o, open);
  test::iso::modeler::carried carried;
  test::iso::modeler::unit unit;
  REQUIRE(job.read(0, carried, unit) == 1);
  std::vector<std::byte> good;
  skel::pack(job.process(job.cut(unit, 0, 1), 0), good);
  for (std::size_t n = 0; n < good.size(); n += 7) {
    std::span<std::byte const> in(good.data(), n);
    CHECK_THROWS_AS(skel::unpack<test::iso::piece_mesh>(in), skel::protocol_error);
  }
  std::size_t refused = 0;
  for (std::size_t n = 0; n < good.size(); ++n) {
    auto bad = good;
    bad[n] ^= std::byte{0xff};
    std::span<std::byte const> in(bad);
    try {
      auto const m = mesh_of(grid, o, skel::unpack<test::iso::piece_mesh>(in));
      for (auto const& t : m.triangles)
        for (auto const v : t) REQUIRE(v < m.positions.size());
    } catch (skel::error const&) {
      ++refused;
    }
  }
  CHECK(refused > good.size() / 10);
}

TEST_CASE("every N-th sample: samples beyond the last node are irrelevant; a volume must have a cell") {
  auto o = test::order(GENERATE(1, 3), {0.1});
  o.step = 3;
  auto const m = test::model(test::volume(test::counted({15, 12, 6}), bumps), o).mesh;
  auto const [low, high] = std::ranges::minmax(m.positions, {}, [](auto const& p) { return p[0]; });
  CHECK(low[0] == 0);
  CHECK(high[0] == 12);  // the 15th sample, 14, is not a node
  o.step = 20;
  CHECK_THROWS_WITH(test::model(test::volume(test::counted({15, 12, 6}), bumps), o),
                    "test: 15 samples along x, expected enough for a cell of --grid 20");
  o.step = 1;
  CHECK_THROWS_AS(test::model(test::volume(test::counted({15, 12, 1}), bumps), o), skel::usage_error);
  CHECK(test::look_at(test::model(test::volume(test::counted({2, 2, 2}), bumps), o).mesh).manifold);
}
