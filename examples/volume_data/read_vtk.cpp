// VTK XML files of image data (.vti) and rectilinear grids (.vtr): "VTK File Formats", the part on
// XML.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <utility>

#include "formats.hpp"
#include "skel/error.hpp"
#include "vtk_array.hpp"
#include "xml_scanner.hpp"

namespace volume_data {

namespace {

/// The content of the file's tags.
struct contents {
  vtk_file file;
  bool rectilinear = false;
  std::array<double, 6> extent{};
  std::array<double, 3> origin{}, spacing{1, 1, 1};
  std::string wanted;  // Scalars of PointData
  std::vector<vtk_array> point_arrays, coordinates;
};

class vtk_parser {
 public:
  explicit vtk_parser(std::string const& path) : xml_(path) { found_.file.path = path; }

  contents parse() {
    while (auto const tag = xml_.next()) {
      if (tag->depth == 0 && tag->name != "VTKFile") break;
      found_root_ = true;
      text_before(*tag);
      if (tag->opens && !open(*tag)) break;
      text_at_ = tag->end;
    }
    if (!found_root_) xml_.fail("expected <VTKFile>: not a VTK XML file");
    if (pieces_ == 0) xml_.fail("expected <ImageData> or <RectilinearGrid> with a Piece");
    return std::move(found_);
  }

 private:
  /// Returns false if only data follow.
  bool open(xml_tag const& tag) {
    if (tag.depth == 0) root(tag);
    if (tag.parent == "VTKFile" && (tag.name == "ImageData" || tag.name == "RectilinearGrid")) shape(tag);
    if (tag.parent == shape_ && tag.name == "Piece") piece(tag);
    if (tag.parent == "Piece" && tag.name == "PointData") found_.wanted = tag.attribute("Scalars");
    if (tag.name == "DataArray" && tag.parent == "PointData") array(tag, found_.point_arrays);
    if (tag.name == "DataArray" && tag.parent == "Coordinates") array(tag, found_.coordinates);
    if (tag.name != "AppendedData") return true;
    auto const encoding = tag.attribute("encoding", "raw");
    if (encoding != "raw" && encoding != "base64")
      xml_.fail(fmt::format("expected encoding raw or base64, found \"{}\"", encoding));
    found_.file.appended_raw = encoding == "raw";
    found_.file.appended_at = xml_.behind('_');
    return false;
  }

  /// The values of an array are the only text in its element; text of children belongs to them.
  void text_before(xml_tag const& tag) {
    if (array_ == nullptr) return;
    bool const ends = tag.depth == array_depth_;  // its own </DataArray>
    if (tag.after_text && (ends || (tag.opens && tag.depth == array_depth_ + 1))) {
      if (array_->end != 0) xml_.fail(fmt::format("expected the values of {} in one place", array_->name));
      array_->begin = text_at_;
      array_->end = tag.begin;
    }
    if (ends) array_ = nullptr;
  }

  void root(xml_tag const& tag) {
    auto const order = tag.attribute("byte_order", "LittleEndian");
    if (order != "LittleEndian" && order != "BigEndian")
      xml_.fail(fmt::format("expected byte_order LittleEndian or BigEndian, found \"{}\"", order));
    found_.file.swapped = (order == "BigEndian") == (std::endian::native == std::endian::little);
    found_.file.compressor = tag.attribute("compressor");
    auto const width = tag.attribute("header_type", "UInt32");
    if (width != "UInt32" && width != "UInt64")
      xml_.fail(fmt::format("expected header_type UInt32 or UInt64, found \"{}\"", width));
    found_.file.header_width = width == "UInt32" ? 4 : 8;
  }

  void shape(xml_tag const& tag) {
    auto const& path = found_.file.path;
    if (!shape_.empty()) xml_.fail("expected one grid in the file");
    shape_ = tag.name;
    found_.rectilinear = tag.name == "RectilinearGrid";
    parse_numbers(tag.attribute("WholeExtent"), found_.extent, path, "WholeExtent");
    if (found_.rectilinear) return;
    parse_numbers(tag.attribute("Origin", "0 0 0"), found_.origin, path, "Origin");
    parse_numbers(tag.attribute("Spacing", "1 1 1"), found_.spacing, path, "Spacing");
    std::array<double, 9> direction{};
    parse_numbers(tag.attribute("Direction", "1 0 0 0 1 0 0 0 1"), direction, path, "Direction");
    if (direction != std::array<double, 9>{1, 0, 0, 0, 1, 0, 0, 0, 1})
      xml_.fail("expected Direction 1 0 0 0 1 0 0 0 1: only axis-aligned grids are read");
  }

  void piece(xml_tag const& tag) {
    std::array<double, 6> extent{};
    parse_numbers(tag.attribute("Extent"), extent, found_.file.path, "Extent");
    if (++pieces_ > 1 || extent != found_.extent) xml_.fail("expected one Piece with the whole extent");
  }

  /// Only the wanted array needs to be readable.
  void array(xml_tag const& tag, std::vector<vtk_array>& to) {
    if (array_ != nullptr)
      xml_.fail(fmt::format("expected the values of {}, found another array", array_->name));
    if (to.size() == 4096) xml_.fail("expected at most 4096 arrays");
    auto& a = to.emplace_back();
    a.name = tag.attribute("Name");
    a.type_name = tag.attribute("type");
    a.components = tag.attribute("NumberOfComponents", "1");
    a.format = tag.attribute("format", "ascii");
    a.offset = tag.attribute("offset");
    if (tag.closes) return;
    array_ = &a;
    array_depth_ = tag.depth;
  }

  xml_scanner xml_;
  contents found_;
  std::string shape_;           // the element
  vtk_array* array_ = nullptr;  // inside of which the parser is
  std::size_t array_depth_ = 0;
  std::uint64_t text_at_ = 0;  // behind the tag before
  int pieces_ = 0;
  bool found_root_ = false;
};

std::vector<double> read_coordinates(vtk_file const& file, vtk_array const& array, std::size_t count) {
  auto const type = type_of(file, array);
  auto const from = open_array(file, array);
  auto const width = size_of(type);
  check_bytes(*from, count * width, fmt::format("{} coordinates of type {}", count, name_of(type)));
  std::vector<std::byte> bytes(count * width);
  from->require(bytes);
  from->expect_end();
  if (swapped(file, array)) reverse_each(bytes, width);
  std::vector<double> values(count);
  convert(type, bytes, std::span<double>(values));
  return values;
}

/// The Scalars of the points, or the first readable array; flags of hidden points are ignored.
vtk_array const& chosen(contents const& c) {
  for (auto const& a : c.point_arrays)
    if (c.wanted.empty() ? is_scalar(a) && a.name != "vtkGhostType" : a.name == c.wanted) return a;
  throw skel::usage_error(c.file.path + ": expected PointData with an array of one component" +
                          (c.wanted.empty() ? "" : " named " + c.wanted));
}

}  // namespace

std::unique_ptr<volume_reader> open_vtk(std::string const& path) {
  auto c = vtk_parser(path).parse();
  volume_header header;
  header.name = path;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double const n = c.extent[2 * axis + 1] - c.extent[2 * axis] + 1;
    bool const whole = c.extent[2 * axis] == std::floor(c.extent[2 * axis]) && n == std::floor(n);
    if (!(n >= 1 && n < 2147483648.0) || !whole)
      throw skel::usage_error(
          fmt::format("{}: WholeExtent: expected whole numbers, the second at least the first, found {} {}",
                      path, c.extent[2 * axis], c.extent[2 * axis + 1]));
    header.size[axis] = static_cast<std::size_t>(n);
    c.origin[axis] += c.spacing[axis] * c.extent[2 * axis];
  }
  auto const& array = chosen(c);
  header.type = type_of(c.file, array);
  auto values = open_array(c.file, array);
  check_size(header, *values);
  if (c.rectilinear) {
    if (c.coordinates.size() != 3)
      throw skel::usage_error(
          fmt::format("{}: expected 3 arrays of Coordinates, found {}", path, c.coordinates.size()));
    for (std::size_t axis = 0; axis < 3; ++axis)
      header.coordinates[axis] = read_coordinates(c.file, c.coordinates[axis], header.size[axis]);
    check_coordinates(header, path);
  } else {
    space_evenly(header, c.origin, c.spacing, path);
  }
  return stored_volume(std::move(header), std::move(values), swapped(c.file, array));
}

}  // namespace volume_data
