// "VTK XML Formats", docs.vtk.org: PolyData with <AppendedData encoding="raw">, each array behind its length
// in bytes (header_type UInt64).
#include <fmt/format.h>

#include <bit>
#include <functional>
#include <span>
#include <vector>

#include "mesh_files.hpp"
#include "skel/atomic_file.hpp"

namespace isosurface {

namespace {

using skel::atomic_file;

/// An array of the file: the attributes of its tag, its length in bytes, and the function that
/// writes it.
struct array {
  std::string attributes;
  std::uint64_t bytes;
  std::function<void(skel::atomic_file&)> write;
};

template <class T>
array stored(std::string attributes, std::vector<T> const& values) {
  auto const bytes = std::as_bytes(std::span(values));
  return {std::move(attributes), bytes.size(), [bytes](skel::atomic_file& file) { file.write(bytes); }};
}

/// `count` numbers computed as they are written; number(i) returns the i-th.
template <class Number>
array computed(std::string attributes, std::uint64_t count, Number number) {
  using value = decltype(number(std::uint64_t{}));
  auto write = [count, number](skel::atomic_file& file) {
    std::vector<value> some;
    for (std::uint64_t i = 0; i < count; ++i) {
      some.push_back(number(i));
      if (some.size() < 4096 && i + 1 < count) continue;
      file.write(std::as_bytes(std::span(some)));
      some.clear();
    }
  };
  return {std::move(attributes), count * sizeof(value), std::move(write)};
}

/// The value of vertex i, for ascending i.
struct value_of {
  std::span<surface_part const> parts;
  mutable std::size_t at = 0;
  double operator()(std::uint64_t i) const {
    while (i >= parts[at].end_vertex) ++at;
    return parts[at].value;
  }
};

}  // namespace

void write_vtp(std::string const& path, mesh const& surfaces, std::string const& comment) {
  auto const& triangles = surfaces.triangles;
  std::vector<array> const arrays{
      stored(R"(type="Float32" Name="Normals" NumberOfComponents="3")", surfaces.normals),
      computed(R"(type="Float64" Name="isovalue")", surfaces.positions.size(), value_of{surfaces.parts}),
      stored(R"(type="Float32" Name="Points" NumberOfComponents="3")", surfaces.positions),
      computed(R"(type="Int64" Name="connectivity")", 3 * triangles.size(),
               [&](std::uint64_t i) { return std::int64_t{triangles[i / 3][i % 3]}; }),
      computed(R"(type="Int64" Name="offsets")", triangles.size(),
               [](std::uint64_t i) { return static_cast<std::int64_t>(3 * (i + 1)); })};
  skel::atomic_file file(path);
  std::uint64_t offset = 0;
  std::size_t next = 0;
  auto const tag = [&] {
    auto const& a = arrays[next++];
    auto const at = offset;
    offset += sizeof(std::uint64_t) + a.bytes;
    return fmt::format("<DataArray {} format=\"appended\" offset=\"{}\"/>\n", a.attributes, at);
  };
  file.write("<?xml version=\"1.0\"?>\n");
  if (!comment.empty()) file.write("<!-- " + comment + " -->\n");
  file.write(
      fmt::format("<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"{}\" "
                  "header_type=\"UInt64\">\n<PolyData>\n",
                  std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian"));
  file.write(
      fmt::format("<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"0\" NumberOfLines=\"0\" "
                  "NumberOfStrips=\"0\" NumberOfPolys=\"{}\">\n",
                  surfaces.positions.size(), triangles.size()));
  file.write("<PointData Scalars=\"isovalue\" Normals=\"Normals\">\n" + tag());
  file.write(tag() + "</PointData>\n<Points>\n");
  file.write(tag() + "</Points>\n<Polys>\n");
  file.write(tag());
  file.write(tag() + "</Polys>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
  for (auto const& a : arrays) {
    file.write(std::as_bytes(std::span(&a.bytes, 1)));
    a.write(file);
  }
  file.write("\n</AppendedData>\n</VTKFile>\n");
  file.commit();
}

}  // namespace isosurface
