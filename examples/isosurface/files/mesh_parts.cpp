// "VTK XML Formats", docs.vtk.org: PPolyData.
#include "mesh_parts.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>

#include "mesh_files.hpp"
#include "skel/atomic_file.hpp"
#include "skel/broadcast.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"

namespace isosurface {

namespace {

namespace fs = std::filesystem;

/// The comment in a part. The root reads it instead of the mesh.
std::string comment_of(mesh_summary const& s) {
  return fmt::format("vertices {} triangles {} polygons {} active {} holes {} unresolved {} xxh3 {}",
                     s.vertices, s.triangles, s.counts.polygons, s.counts.active, s.counts.holes,
                     s.counts.unresolved, s.xxh3);
}

mesh_summary read_comment(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 512> head{};
  file.read(head.data(), head.size() - 1);
  std::string_view const text(head.data());
  auto const at = text.find("<!-- vertices ");
  mesh_summary s;
  std::array<char, 64> hash{};
  auto& c = s.counts;
  if (at == std::string_view::npos ||
      std::sscanf(
          text.data() + at,
          "<!-- vertices %lu triangles %lu polygons %lu active %lu holes %lu unresolved %lu xxh3 %63s",
          &s.vertices, &s.triangles, &c.polygons, &c.active, &c.holes, &c.unresolved, hash.data()) != 7)
    throw skel::error(path + ": expected a part of the mesh; do all ranks see the same files?");
  s.xxh3 = hash.data();
  return s;
}

void add_to(mesh_summary& all, mesh_summary const& part) {
  all.vertices += part.vertices;
  all.triangles += part.triangles;
  all.counts += part.counts;
}

std::string escaped(std::string const& name) {
  std::string to;
  for (char const c : name)
    to += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&quot;" : std::string(1, c);
  return to;
}

}  // namespace

std::string mesh_hash(mesh const& m) {
  skel::xxh3_hasher hasher;
  hasher.update(std::as_bytes(std::span(m.positions)));
  hasher.update(std::as_bytes(std::span(m.normals)));
  hasher.update(std::as_bytes(std::span(m.triangles)));
  return hasher.hex();
}

part_writer::part_writer(node_grid const& grid, surface_options const& options, std::string path)
    : grid_(grid),
      lattice_(grid, options.edges_per_cell()),
      values_(options.values),
      path_(std::move(path)),
      folder_(fs::path(path_).replace_extension().string()) {}

std::string part_writer::name_of(std::size_t layer) const {
  return fmt::format("{}/layer-{:06}.vtp", folder_, layer);
}

void part_writer::add(std::size_t layer, std::size_t piece, piece_mesh&& m) {
  if (piece == 0) builder_.emplace(grid_, lattice_, values_);
  builder_->add(0, piece, std::move(m));  // the builder's only layer
  if (piece + 1 < grid_.pieces()) return;
  auto const surfaces = builder_->finish();
  mesh_summary const s{surfaces.positions.size(), surfaces.triangles.size(), builder_->counts(),
                       mesh_hash(surfaces)};
  builder_.reset();
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw skel::error(folder_ + ": " + error.message());
  write_vtp(name_of(layer), surfaces, comment_of(s));
}

// Parts of an older mesh would take the place of those that a host writes to another folder of this name.
void part_writer::remove_older() const {
  std::error_code absent;
  fs::remove(path_, absent);
  for (auto const& entry : fs::directory_iterator(folder_, absent)) {
    auto const name = entry.path().filename().string();
    unsigned long layer = 0;
    if (std::sscanf(name.c_str(), "layer-%6lu.vtp", &layer) == 1 && entry.path() == name_of(layer))
      fs::remove(entry.path());
  }
}

mesh_summary part_writer::finish() const {
  mesh_summary all;
  skel::xxh3_hasher hashes;
  skel::atomic_file file(path_);
  file.write(
      fmt::format("<?xml version=\"1.0\"?>\n<VTKFile type=\"PPolyData\" version=\"1.0\" byte_order=\"{}\" "
                  "header_type=\"UInt64\">\n<PPolyData GhostLevel=\"0\">\n",
                  std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian"));
  file.write(
      "<PPointData Scalars=\"isovalue\" Normals=\"Normals\">\n"
      "<PDataArray type=\"Float32\" Name=\"Normals\" NumberOfComponents=\"3\"/>\n"
      "<PDataArray type=\"Float64\" Name=\"isovalue\"/>\n</PPointData>\n"
      "<PPoints>\n<PDataArray type=\"Float32\" Name=\"Points\" NumberOfComponents=\"3\"/>\n</PPoints>\n");
  auto const folder = fs::path(folder_).filename().string();
  for (std::size_t layer = 0; layer < grid_.layers(); ++layer) {
    auto const part = read_comment(name_of(layer));
    add_to(all, part);
    hashes.update(std::as_bytes(std::span(part.xxh3)));
    file.write(fmt::format("<Piece Source=\"{}/layer-{:06}.vtp\"/>\n", escaped(folder), layer));
  }
  file.write("</PPolyData>\n</VTKFile>\n");
  file.commit();
  for (auto const& entry : fs::directory_iterator(folder_))  // of hosts that were lost while they wrote
    if (entry.path().filename().string().starts_with(".skel-")) fs::remove(entry.path());
  all.xxh3 = hashes.hex();
  return all;
}

parts_made write_parts(skel::context& ctx, open_function const& open, surface_options options,
                       skel::multi_host_options how, std::string const& path) {
  how.results = skel::multi_host_options::unit_results::on_hosts;
  options.layers_apart = true;
  node_grid const grid(open()->header(), options);
  modeler const job(grid, options, open);
  part_writer writer(grid, options, path);
  static_cast<void>(skel::broadcast(ctx, skel::on_root([&] {  // before any rank writes
                                      writer.remove_older();
                                      return true;
                                    })));
  parts_made made;
  made.run = multi_host(
                 ctx, grid.layers(), job,
                 [&](std::uint64_t layer, std::uint64_t piece, piece_mesh&& m) {
                   writer.add(layer, piece, std::move(m));
                 },
                 how)
                 .report;
  if (ctx.is_root() && !made.run.stopped_early) made.mesh = writer.finish();
  return made;
}

}  // namespace isosurface
