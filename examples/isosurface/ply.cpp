#include "ply.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <span>

#include "skel/atomic_file.hpp"

namespace isosurface {

namespace {

static_assert(std::endian::native == std::endian::little,
              "PLY files are written in the machine's byte order");

std::string ply_header(mesh const& m) {
  return fmt::format(
      "ply\nformat binary_little_endian 1.0\ncomment isosurfaces by skel-isosurface\n"
      "element vertex {}\nproperty float x\nproperty float y\nproperty float z\n"
      "property float nx\nproperty float ny\nproperty float nz\nproperty float value\n"
      "element face {}\nproperty list uchar uint vertex_indices\nend_header\n",
      m.positions.size(), m.triangles.size());
}

}  // namespace

void write_ply(std::string const& path, mesh const& m) {
  skel::atomic_file file(path);
  file.write(ply_header(m));
  for (auto const& part : m.parts)
    for (auto v = part.first_vertex; v < part.end_vertex; ++v) {
      auto const &p = m.positions[v], &n = m.normals[v];
      std::array const record{p[0], p[1], p[2], n[0], n[1], n[2], static_cast<float>(part.value)};
      file.write(std::as_bytes(std::span(record)));
    }
  std::array<std::byte, 13> face{std::byte{3}};
  for (auto const& t : m.triangles) {
    std::memcpy(face.data() + 1, t.data(), sizeof t);
    file.write(std::span<std::byte const>(face));
  }
  file.commit();
}

}  // namespace isosurface
