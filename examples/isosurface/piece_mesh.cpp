#include "piece_mesh.hpp"

namespace skel {

void transfer_traits<isosurface::piece_mesh>::pack(isosurface::piece_mesh const& m,
                                                   std::vector<std::byte>& out) {
  skel::pack(m.counts, out);
  skel::pack(m.parts, out);
  skel::pack(m.positions, out);
  skel::pack(m.normals, out);
  skel::pack(m.triangles, out);
  skel::pack(m.foreign, out);
  skel::pack(m.above, out);
  skel::pack(m.last_row, out);
}

isosurface::piece_mesh transfer_traits<isosurface::piece_mesh>::unpack(std::span<std::byte const>& in) {
  isosurface::piece_mesh m;
  m.counts = skel::unpack<decltype(m.counts)>(in);
  m.parts = skel::unpack<decltype(m.parts)>(in);
  m.positions = skel::unpack<decltype(m.positions)>(in);
  m.normals = skel::unpack<decltype(m.normals)>(in);
  m.triangles = skel::unpack<decltype(m.triangles)>(in);
  m.foreign = skel::unpack<decltype(m.foreign)>(in);
  m.above = skel::unpack<decltype(m.above)>(in);
  m.last_row = skel::unpack<decltype(m.last_row)>(in);
  return m;
}

}  // namespace skel
