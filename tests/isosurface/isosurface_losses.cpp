// The modeler with ranks that kill themselves on demand: isosurface_losses WHEN SIZE SEED. Runs
// twice; the root prints the lost ranks and whether the mesh is right. losses_test.cpp starts it.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "../mpi/deaths.hpp"
#include "mesh_parts.hpp"
#include "sampled.hpp"
#include "skel/skel.hpp"
#include "topology.hpp"

namespace {

std::uint64_t files_until_death = 0;  // 0: lives

}  // namespace

// The C library's, which gives a complete file its name: a rank dies while it writes.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): its names are reserved
extern "C" int rename(char const* from, char const* to) noexcept {
  bool const ours = std::strstr(from, "/.skel-") != nullptr;
  if (ours && files_until_death > 0 && --files_until_death == 0) test::die();
  return ::renameat(AT_FDCWD, from, AT_FDCWD, to);
}

namespace {

using namespace std::chrono_literals;
namespace iso = test::iso;

struct deadly_modeler : iso::modeler {
  using modeler::modeler;
  std::string dies_in{};  // the function in which the rank dies; set on one rank

  std::uint64_t read(std::uint64_t number, carried& c, unit& into, skel::pieces_ready const& ready) const {
    return modeler::read(number, c, into, [&](std::uint64_t n) {
      ready(n);
      std::this_thread::sleep_for(500us);  // others process these pieces
      if (dies_in == "read" && number % 4 == 1 && n == 3) test::die();
    });
  }
  [[nodiscard]] result process(packet const& p, std::size_t i) const {
    std::this_thread::sleep_for(2ms);
    if (dies_in == "process") test::die();
    return modeler::process(p, i);
  }
};

namespace fs = std::filesystem;

std::map<std::string, std::string> files_in(fs::path const& folder) {
  std::map<std::string, std::string> all;
  for (auto const& entry : fs::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    all[entry.path().filename().string()] = {std::istreambuf_iterator<char>(file), {}};
  }
  return all;
}

/// The parts that one rank without a skeleton writes.
std::map<std::string, std::string> expected_parts(test::iso::open_function const& open,
                                                  test::iso::surface_options options,
                                                  std::string const& where) {
  options.layers_apart = true;
  iso::node_grid const grid(open()->header(), options);
  iso::modeler const job(grid, options, open);
  iso::part_writer writer(grid, options, where + ".pvtp");
  iso::modeler::carried carried;
  for (std::size_t layer = 0; layer < grid.layers(); ++layer) {
    iso::modeler::unit unit;
    auto const pieces = static_cast<std::size_t>(job.read(layer, carried, unit));
    auto const packet = job.cut(unit, 0, pieces);
    for (std::size_t piece = 0; piece < pieces; ++piece) writer.add(layer, piece, job.process(packet, piece));
  }
  return files_in(where);
}

/// Writes parts, twice; a rank dies while it writes.
void run_in_parts(skel::context& ctx, test::plan_of_deaths const& p, unsigned group_size,
                  iso::open_function const& open, iso::surface_options const& options) {
  auto const name = [] { return "skel-parts-" + std::to_string(::getpid()); };
  auto const where =
      (fs::temp_directory_path() / skel::broadcast(ctx, skel::on_root(name)).value.value_or("")).string();
  auto const expected = ctx.is_root() ? expected_parts(open, options, where + "-expected")
                                      : std::map<std::string, std::string>{};
  if (ctx.rank() == p.victim()) files_until_death = 1 + p.seed % 3;
  skel::multi_host_options how;
  how.group_size = group_size;
  for (int run = 0; run < 2; ++run) {
    auto const made = iso::write_parts(ctx, open, options, how, where + ".pvtp");
    if (!ctx.is_root()) continue;
    test::say_losses(expected.size() == 24 && files_in(where) == expected, made.run);
    fs::remove_all(where);
  }
  if (!ctx.is_root()) return;
  fs::remove_all(where + "-expected");
  fs::remove(where + ".pvtp");
}

double bumps(double x, double y, double z) {
  return std::sin(0.9 * x) + std::cos(0.7 * y) + std::sin(0.8 * z + x);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  auto const body = [&](skel::context& ctx) {
    test::plan_of_deaths const p{argv[1], std::strtoull(argv[3], nullptr, 10), ctx.size(), 150ms,
                                 ctx.attempt()};
    auto const open = test::volume(test::counted({14, 13, 25}), bumps);
    auto options = test::order(p.seed % 2 == 0 ? 1 : 3, {-0.3, 0.6});
    options.rows_per_piece = 2;
    options.tolerance = p.seed % 4 == 1 ? 0.02 : 0;  // even seeds: order 1
    auto const group_size = static_cast<unsigned>(std::atoi(argv[2]));
    if (p.when == "write") return run_in_parts(ctx, p, group_size, open, options);
    auto const expected = test::model(open, options).mesh;
    iso::node_grid const grid(open()->header(), options);
    iso::edge_lattice const lattice(grid, options.edges_per_cell());
    deadly_modeler first(grid, options, open);
    deadly_modeler const second = first;
    if (ctx.rank() == p.victim()) first.dies_in = p.when;
    if (auto const time = p.lifetime(ctx.rank())) test::die_in(*time);
    skel::multi_host_options how;
    how.group_size = group_size;
    if (p.when == "all") how.max_losses_per_task = 0;  // they may die one after the other at the same piece
    how.results = skel::multi_host_options::unit_results::as_they_come;
    for (auto const* job : {&std::as_const(first), &second}) {
      iso::mesh_builder builder(grid, lattice, options.values);
      auto const r = skel::multi_host(
                         ctx, grid.layers(), *job,
                         [&](std::uint64_t layer, std::uint64_t piece, iso::piece_mesh&& m) {
                           builder.add(layer, piece, std::move(m));
                         },
                         how)
                         .report;
      if (ctx.is_root()) test::say_losses(test::same(builder.finish(), expected), r);
    }
  };
  return skel::run_main(argc, argv, skel::restartable(body));
}
