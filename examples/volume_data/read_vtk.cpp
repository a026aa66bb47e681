// VTK XML files of image data (.vti) and rectilinear grids (.vtr): "VTK File Formats", section XML.
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include "formats.hpp"
#include "skel/error.hpp"
#include "vtk_array.hpp"
#include "xml_scanner.hpp"

namespace skel::volume_data {

namespace {

scalar_type vtk_type(std::string_view name, xml_scanner const& xml) {
  if (name == "Int8") return scalar_type::int8;
  if (name == "UInt8") return scalar_type::uint8;
  if (name == "Int16") return scalar_type::int16;
  if (name == "UInt16") return scalar_type::uint16;
  if (name == "Float32") return scalar_type::float32;
  if (name == "Float64") return scalar_type::float64;
  xml.fail(fmt::format("unknown type \"{}\"; known: Int8, UInt8, Int16, UInt16, Float32, Float64", name));
}

/// What the tags of the file say.
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
      if (!found_root_ && tag->name != "VTKFile") break;
      bool const more = tag->opens ? open(*tag) : close(*tag);
      if (!more) return found_;
    }
    if (!found_root_) xml_.fail("expected <VTKFile>: not a VTK XML file");
    return found_;
  }

 private:
  bool open(xml_tag const& tag) {
    if (tag.name == "VTKFile") root(tag);
    if (tag.name == "ImageData" || tag.name == "RectilinearGrid") shape(tag);
    if (tag.name == "Piece") piece(tag);
    if (tag.name == "PointData") found_.wanted = tag.attribute("Scalars");
    if (tag.name == "DataArray") array(tag);
    if (tag.name == "AppendedData") {
      found_.file.appended_raw = tag.attribute("encoding", "raw") == "raw";
      found_.file.appended_at = xml_.behind('_');
      return false;  // the rest is data
    }
    content_ = tag.end;
    if (!tag.closes) section_ = tag.name == "DataArray" || tag.name == "InformationKey" ? section_ : tag.name;
    return true;
  }

  bool close(xml_tag const& tag) {
    if (tag.name == "DataArray" && open_array_ != nullptr) {
      open_array_->begin = content_;
      open_array_->end = tag.begin;
      open_array_ = nullptr;
    }
    content_ = tag.end;
    if (tag.name == section_) section_.clear();
    return tag.name != "VTKFile";
  }

  void root(xml_tag const& tag) {
    found_root_ = true;
    auto const order = tag.attribute("byte_order", "LittleEndian");
    if (order != "LittleEndian" && order != "BigEndian")
      xml_.fail(fmt::format("expected byte_order LittleEndian or BigEndian, got \"{}\"", order));
    found_.file.swapped = (order == "BigEndian") == (std::endian::native == std::endian::little);
    auto const compressor = tag.attribute("compressor");
    found_.file.compressed = !compressor.empty();
    if (!compressor.empty() && compressor != "vtkZLibDataCompressor")
      xml_.fail(fmt::format("expected compressor vtkZLibDataCompressor or none, got \"{}\"", compressor));
    auto const width = tag.attribute("header_type", "UInt32");
    if (width != "UInt32" && width != "UInt64")
      xml_.fail(fmt::format("expected header_type UInt32 or UInt64, got \"{}\"", width));
    found_.file.header_width = width == "UInt32" ? 4 : 8;
  }

  void shape(xml_tag const& tag) {
    auto const& path = found_.file.path;
    found_.rectilinear = tag.name == "RectilinearGrid";
    has_shape_ = true;
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

  void array(xml_tag const& tag) {
    bool const point = section_ == "PointData";
    if (!point && section_ != "Coordinates") return;
    if (tag.attribute("NumberOfComponents", "1") != "1") {
      if (point) return;
      xml_.fail("expected coordinates of one component");
    }
    vtk_array a;
    a.name = tag.attribute("Name");
    a.type = vtk_type(tag.attribute("type"), xml_);
    auto const format = tag.attribute("format", "ascii");
    if (format == "appended") {
      a.format = vtk_array::kind::appended;
      auto const text = tag.attribute("offset");
      auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), a.offset);
      if (code != std::errc{} || end != text.data() + text.size())
        xml_.fail(fmt::format("expected an offset, got \"{}\"", text));
    } else if (format == "binary") {
      a.format = vtk_array::kind::binary;
    } else if (format != "ascii") {
      xml_.fail(fmt::format("expected format ascii, binary or appended, got \"{}\"", format));
    }
    auto& list = point ? found_.point_arrays : found_.coordinates;
    if (list.size() == 4096) xml_.fail("expected at most 4096 arrays");
    list.push_back(a);
    open_array_ = tag.closes ? nullptr : &list.back();
  }

  xml_scanner xml_;
  contents found_;
  std::string section_;
  vtk_array* open_array_ = nullptr;
  std::uint64_t content_ = 0;
  int pieces_ = 0;
  bool found_root_ = false, has_shape_ = false;
};

std::vector<double> read_coordinates(vtk_file const& file, vtk_array const& array, std::size_t count) {
  auto const from = open_array(file, array);
  auto const width = size_of(array.type);
  if (count > from->most() / width)
    from->fail(fmt::format("{} coordinates need {} bytes, there are at most {}", count, count * width,
                           from->most()));
  std::vector<std::byte> bytes(count * width);
  from->require(bytes);
  if (swapped(file, array)) reverse_each(bytes, width);
  std::vector<double> values(count);
  convert(array.type, bytes, std::span<double>(values));
  return values;
}

vtk_array const& chosen(contents const& c) {
  for (auto const& a : c.point_arrays)
    if (c.wanted.empty() || a.name == c.wanted) return a;
  throw usage_error(c.file.path + ": expected PointData with an array of one component" +
                    (c.wanted.empty() ? "" : " named " + c.wanted));
}

}  // namespace

std::unique_ptr<volume_reader> open_vtk(std::string const& path) {
  auto c = vtk_parser(path).parse();
  volume_header header;
  header.name = path;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double const n = c.extent[2 * axis + 1] - c.extent[2 * axis] + 1;
    if (!(n >= 1 && n < 2147483648.0) || n != std::floor(n))
      throw usage_error(fmt::format("{}: WholeExtent: expected from {} to at least that, got {}", path,
                                    c.extent[2 * axis], c.extent[2 * axis + 1]));
    header.size[axis] = static_cast<std::size_t>(n);
    c.origin[axis] += c.spacing[axis] * c.extent[2 * axis];
  }
  auto const& array = chosen(c);
  header.type = array.type;
  auto values = open_array(c.file, array);
  check_size(header, *values);
  if (c.rectilinear) {
    if (c.coordinates.size() != 3)
      throw usage_error(
          fmt::format("{}: expected 3 arrays of Coordinates, got {}", path, c.coordinates.size()));
    for (std::size_t axis = 0; axis < 3; ++axis)
      header.coordinates[axis] = read_coordinates(c.file, c.coordinates[axis], header.size[axis]);
    check_coordinates(header, path);
  } else {
    space_evenly(header, c.origin, c.spacing, path);
  }
  return stored_volume(std::move(header), std::move(values), swapped(c.file, array));
}

}  // namespace skel::volume_data
