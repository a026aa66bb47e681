// Meshes survive writing and reading, with readers independent of the writers.
#include "mesh_files.hpp"

#include <cstdlib>
#include <cstring>
#include <sstream>

#include "catch.hpp"
#include "skel/error.hpp"
#include "small_mesh.hpp"
#include "temporary_file.hpp"

using namespace isosurface;

namespace {

std::string text_of(std::string const& path) {
  auto text = test::bytes_of(path);
  std::filesystem::remove(path);
  return text;
}

/// Reads like an importer: line by line, with indices checked against the vertices so far.
mesh read_obj(std::string const& text) {
  mesh m;
  std::istringstream lines(text);
  for (std::string line, word; std::getline(lines, line);) {
    std::istringstream words(line);
    words >> word;
    if (word == "#") continue;
    if (word == "o") {
      words >> word;
      REQUIRE(word.rfind("isosurface_", 0) == 0);
      m.parts.push_back({std::strtod(word.c_str() + 11, nullptr), m.positions.size(), m.positions.size(),
                         m.triangles.size(), m.triangles.size()});
    } else if (word == "v" || word == "vn") {
      point p{};
      for (auto& c : p) {
        std::string number;
        REQUIRE(words >> number);
        c = std::strtof(number.c_str(), nullptr);
      }
      (word == "v" ? m.positions : m.normals).push_back(p);
      m.parts.back().end_vertex = m.positions.size();
    } else {
      REQUIRE(word == "f");
      std::array<std::uint32_t, 3> t{};
      for (auto& index : t) {
        unsigned long long v = 0, n = 0;
        REQUIRE(words >> word);
        REQUIRE(std::sscanf(word.c_str(), "%llu//%llu", &v, &n) == 2);
        REQUIRE(v == n);
        REQUIRE(v >= 1);
        REQUIRE(v <= m.positions.size());
        index = static_cast<std::uint32_t>(v - 1);
      }
      m.triangles.push_back(t);
      m.parts.back().end_triangle = m.triangles.size();
    }
    REQUIRE_FALSE(words >> word);
  }
  return m;
}

class vtp {
 public:
  explicit vtp(std::string text) : text_(std::move(text)) {
    data_ = text_.find("<AppendedData encoding=\"raw\">");
    REQUIRE(data_ != std::string::npos);
    data_ = text_.find('_', data_) + 1;
    REQUIRE(text_.find("header_type=\"UInt64\"") < data_);
    REQUIRE(text_.ends_with("</AppendedData>\n</VTKFile>\n"));
  }
  /// Returns the number after NAME=" from `at` on.
  [[nodiscard]] std::size_t number(std::string const& name, std::size_t at = 0) const {
    auto const found = text_.find(name + "=\"", at);
    REQUIRE(found < data_);
    return std::strtoull(text_.c_str() + found + name.size() + 2, nullptr, 10);
  }
  /// Returns the array of this name, which must follow `section`.
  template <class T>
  [[nodiscard]] std::vector<T> array(std::string const& section, std::string const& type,
                                     std::string const& name) {
    auto const at = text_.find("type=\"" + type + "\" Name=\"" + name + "\"", text_.find("<" + section));
    REQUIRE(at < text_.find("</" + section + ">"));
    auto const from = data_ + number("offset", at);
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text_.data() + from, sizeof bytes);
    REQUIRE(bytes % sizeof(T) == 0);
    REQUIRE(from + sizeof bytes + bytes <= text_.size());
    seen_ += sizeof bytes + bytes;
    std::vector<T> values(bytes / sizeof(T));
    if (bytes > 0) std::memcpy(values.data(), text_.data() + from + sizeof bytes, bytes);
    return values;
  }
  /// The number of data bytes that no array has used.
  [[nodiscard]] std::size_t unseen() const {
    return text_.size() - data_ - seen_ - std::strlen("\n</AppendedData>\n</VTKFile>\n");
  }

 private:
  std::string text_;
  std::size_t data_, seen_ = 0;
};

}  // namespace

TEST_CASE("OBJ: reading back gives the same bits") {
  for (unsigned const n : {0U, 1U, 5000U}) {
    auto const m = test::small_mesh(n);
    auto const path = test::temporary("a.obj");
    write_obj(path, m);
    auto const back = read_obj(text_of(path));
    CHECK(back.positions == m.positions);
    CHECK(back.normals == m.normals);
    CHECK(back.triangles == m.triangles);
    REQUIRE(back.parts.size() == m.parts.size());
    for (std::size_t i = 0; i < m.parts.size(); ++i) {
      CHECK(back.parts[i].value == m.parts[i].value);
      CHECK(back.parts[i].end_vertex == m.parts[i].end_vertex);
      CHECK(back.parts[i].end_triangle == m.parts[i].end_triangle);
    }
  }
}

TEST_CASE("VTP: reading back gives the same bits") {
  for (unsigned const n : {0U, 1U, 5000U}) {
    auto const m = test::small_mesh(n);
    auto const path = test::temporary("a.vtp");
    write_vtp(path, m);
    vtp file(text_of(path));
    CHECK(file.number("NumberOfPoints") == m.positions.size());
    CHECK(file.number("NumberOfPolys") == m.triangles.size());
    CHECK(file.array<point>("Points", "Float32", "Points") == m.positions);
    CHECK(file.array<point>("PointData", "Float32", "Normals") == m.normals);
    auto const values = file.array<double>("PointData", "Float64", "isovalue");
    REQUIRE(values.size() == m.positions.size());
    for (auto const& part : m.parts)
      for (auto i = part.first_vertex; i < part.end_vertex; ++i) REQUIRE(values[i] == part.value);
    auto const corners = file.array<std::int64_t>("Polys", "Int64", "connectivity");
    auto const ends = file.array<std::int64_t>("Polys", "Int64", "offsets");
    REQUIRE(ends.size() == m.triangles.size());
    REQUIRE(corners.size() == 3 * m.triangles.size());
    for (std::size_t i = 0; i < corners.size(); ++i) REQUIRE(corners[i] == m.triangles[i / 3][i % 3]);
    for (std::size_t i = 0; i < ends.size(); ++i) REQUIRE(ends[i] == static_cast<std::int64_t>(3 * i + 3));
    CHECK(file.unseen() == 0);
  }
}

TEST_CASE("a failed write names the path and leaves no file") {
  auto const m = test::small_mesh(3);
  CHECK_THROWS_AS(write_obj("/nowhere/a.obj", m), skel::error);
  CHECK_THROWS_AS(write_vtp("/nowhere/a.vtp", m), skel::error);
  CHECK_THROWS_AS(write_vtp("/dev/full", test::small_mesh(50000)), skel::error);
  CHECK_THROWS_AS(write_obj("/dev/full", test::small_mesh(50000)), skel::error);
}
