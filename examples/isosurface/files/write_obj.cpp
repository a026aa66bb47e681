// Wavefront, "Object Files (.obj)", appendix B of the Advanced Visualizer manual. Indices begin at 1.
#include <fmt/compile.h>
#include <fmt/format.h>

#include <iterator>

#include "mesh_files.hpp"
#include "skel/atomic_file.hpp"

namespace isosurface {

namespace {

/// Buffers some thousands of lines per write.
class lines {
 public:
  explicit lines(std::string const& path) : file_(path) {}
  template <class Format, class... Values>
  void add(Format const& format, Values const&... values) {
    fmt::format_to(std::back_inserter(text_), format, values...);
    if (text_.size() >= enough) flush();
  }
  void commit() {
    flush();
    file_.commit();
  }

 private:
  static constexpr std::size_t enough = std::size_t{1} << 16;
  void flush() {
    file_.write(std::string_view(text_.data(), text_.size()));
    text_.clear();
  }
  skel::atomic_file file_;
  fmt::memory_buffer text_;
};

}  // namespace

void write_obj(std::string const& path, mesh const& surfaces) {
  lines to(path);
  to.add(FMT_COMPILE("# isosurfaces made by skel-isosurface: {} vertices, {} triangles\n"),
         surfaces.positions.size(), surfaces.triangles.size());
  for (auto const& part : surfaces.parts) {
    to.add(FMT_COMPILE("o isosurface_{}\n"), part.value);
    for (auto i = part.first_vertex; i < part.end_vertex; ++i)
      to.add(FMT_COMPILE("v {} {} {}\n"), surfaces.positions[i][0], surfaces.positions[i][1],
             surfaces.positions[i][2]);
    for (auto i = part.first_vertex; i < part.end_vertex; ++i)
      to.add(FMT_COMPILE("vn {} {} {}\n"), surfaces.normals[i][0], surfaces.normals[i][1],
             surfaces.normals[i][2]);
    for (auto i = part.first_triangle; i < part.end_triangle; ++i) {
      std::uint64_t const a = surfaces.triangles[i][0] + std::uint64_t{1};
      std::uint64_t const b = surfaces.triangles[i][1] + std::uint64_t{1};
      std::uint64_t const c = surfaces.triangles[i][2] + std::uint64_t{1};
      to.add(FMT_COMPILE("f {}//{} {}//{} {}//{}\n"), a, a, b, b, c, c);
    }
  }
  to.commit();
}

}  // namespace isosurface
