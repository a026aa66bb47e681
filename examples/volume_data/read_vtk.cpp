// VTK XML files of image data (.vti) and rectilinear grids (.vtr): "VTK File Formats", the part on
// XML.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "characters.hpp"
#include "formats.hpp"
#include "program/text.hpp"
#include "skel/error.hpp"
#include "vtk_array.hpp"
#include "vtk_pieces.hpp"
#include "xml_tags.hpp"

namespace volume_data {

namespace {

/// A part of the grid, with the tags of its arrays.
struct piece {
  vtk_box extent;
  std::string scalars;  // attribute of PointData
  std::vector<vtk_array> point_arrays, coordinates;
  bool has_cells = false;  // arrays of cells
};

/// The content of the file's tags.
struct contents {
  vtk_file file;
  bool rectilinear = false;
  vtk_box extent;
  std::array<double, 3> origin{}, spacing{1, 1, 1};
  std::size_t times = 1;
  std::vector<piece> pieces;
};

std::size_t count_words(std::string_view text) {
  std::size_t words = 0;
  for (auto rest = trimmed(text); !rest.empty(); ++words)
    rest =
        trimmed(rest.substr(static_cast<std::size_t>(std::ranges::find_if(rest, is_space) - rest.begin())));
  return words;
}

class vtk_parser {
 public:
  explicit vtk_parser(std::string const& path) : xml_(path, "AppendedData") { found_.file.path = path; }

  contents parse() {
    while (auto const tag = xml_.next()) {
      if (tag->depth == 0 && tag->name != "VTKFile") break;
      found_root_ = true;
      text_before(*tag);
      if (tag->opens) open(*tag);
      text_at_ = tag->end;
    }
    if (!found_root_) xml_.fail("expected <VTKFile>: not a VTK XML file");
    std::erase_if(found_.pieces, [](piece const& p) { return p.extent.empty(); });
    if (found_.pieces.empty()) xml_.fail("expected <ImageData> or <RectilinearGrid> with a Piece");
    return std::move(found_);
  }

 private:
  void open(xml_tag const& tag) {
    if (tag.depth == 0) root(tag);
    if (tag.parent == "VTKFile" && (tag.name == "ImageData" || tag.name == "RectilinearGrid")) shape(tag);
    if (!shape_.empty() && tag.parent == shape_ && tag.name == "Piece") begin_piece(tag);
    if (tag.name == "AppendedData") appended(tag);
    if (found_.pieces.empty()) return;
    auto& to = found_.pieces.back();
    if (tag.parent == "Piece" && tag.name == "PointData") to.scalars = tag.attribute("Scalars");
    if (tag.name != "DataArray") return;
    if (tag.parent == "PointData") array(tag, to.point_arrays);
    if (tag.parent == "Coordinates") array(tag, to.coordinates);
    if (tag.parent == "CellData") to.has_cells = true;
  }

  void appended(xml_tag const& tag) {
    auto const encoding = tag.attribute("encoding", "raw");
    if (encoding != "raw" && encoding != "base64")
      xml_.fail(fmt::format("expected encoding raw or base64, found \"{}\"", encoding));
    found_.file.appended_raw = encoding == "raw";
    found_.file.appended_at = xml_.behind('_', tag.end);
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
    found_.extent = extent(tag, "WholeExtent", 1);
    found_.times = std::max<std::size_t>(count_words(tag.attribute("TimeValues")), 1);
    if (found_.rectilinear) return;
    parse_numbers(tag.attribute("Origin", "0 0 0"), found_.origin, path, "Origin");
    parse_numbers(tag.attribute("Spacing", "1 1 1"), found_.spacing, path, "Spacing");
    std::array<double, 9> direction{};
    parse_numbers(tag.attribute("Direction", "1 0 0 0 1 0 0 0 1"), direction, path, "Direction");
    if (!is_unit(direction))
      xml_.fail("expected Direction 1 0 0 0 1 0 0 0 1: only axis-aligned grids are read");
  }

  /// `smallest`: number of points along each axis.
  [[nodiscard]] vtk_box extent(xml_tag const& tag, std::string_view key, int smallest) const {
    std::array<double, 6> numbers{};
    parse_numbers(tag.attribute(key), numbers, found_.file.path, key);
    vtk_box box;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      auto const first = numbers[2 * axis], last = numbers[2 * axis + 1];
      constexpr double most = 2147483647;
      bool const whole = first == std::floor(first) && last == std::floor(last);
      if (!whole || !(std::abs(first) <= most) || !(last >= first + smallest - 1) || !(last - first < most))
        xml_.fail(fmt::format("{}: expected whole numbers, the second at least the first, found {} {}", key,
                              first, last));
      box.first[axis] = static_cast<std::int64_t>(first);
      box.end[axis] = static_cast<std::int64_t>(last) + 1;
    }
    return box;
  }

  void begin_piece(xml_tag const& tag) {
    if (found_.pieces.size() == most_vtk_pieces)
      xml_.fail(fmt::format("expected at most {} pieces", most_vtk_pieces));
    auto const own = extent(tag, "Extent", 0);
    if (!own.empty() && !found_.extent.contains(own))
      xml_.fail("expected the Extent of a Piece to lie within WholeExtent");
    found_.pieces.emplace_back().extent = own;
  }

  /// Only the wanted array needs to be readable.
  void array(xml_tag const& tag, std::vector<vtk_array>& to) {
    if (array_ != nullptr)
      xml_.fail(fmt::format("expected the values of {}, found another array", array_->name));
    constexpr std::size_t most = 65536;
    if (++arrays_ > most) xml_.fail(fmt::format("expected at most {} arrays", most));
    auto& a = to.emplace_back();
    a.name = tag.attribute("Name");
    a.type_name = tag.attribute("type");
    a.components = trimmed(tag.attribute("NumberOfComponents", "1"));
    a.format = tag.attribute("format", "ascii");
    a.offset = trimmed(tag.attribute("offset"));
    a.steps = tag.attribute("TimeStep");
    // VTK writes an array that does not change at the first step only.
    if (!a.steps.empty() && a.offset.empty() && to.size() > 1 && to[to.size() - 2].name == a.name)
      a.offset = to[to.size() - 2].offset;
    array_ = &a;
    array_depth_ = tag.depth;
  }

  xml_tags xml_;
  contents found_;
  std::string shape_;           // the element
  vtk_array* array_ = nullptr;  // inside of which the parser is
  std::size_t array_depth_ = 0, arrays_ = 0;
  std::uint64_t text_at_ = 0;  // behind the tag before
  bool found_root_ = false;
};

bool exists_at(vtk_array const& array, std::size_t time) {
  if (array.steps.empty()) return true;
  auto rest = trimmed(array.steps);
  while (!rest.empty()) {
    auto const step = skel::program::take_number<std::size_t>(rest);
    if (!step || *step == time) return step.has_value();
    rest = trimmed(rest);
  }
  return false;
}

/// Flags of hidden points are no field.
bool is_field(vtk_array const& a) { return is_scalar(a) && a.name != "vtkGhostType"; }

std::string names_of(piece const& from) {
  std::vector<std::string_view> names;
  for (auto const& a : from.point_arrays)
    if (is_field(a) && std::ranges::find(names, a.name) == names.end()) names.push_back(a.name);
  if (names.empty())
    return from.has_cells ? "found only arrays of cells or of several components" : "found none";
  return fmt::format("found {}", fmt::join(names, ", "));
}

/// The array of this name or, without one, the first scalar.
vtk_array const& find_array(contents const& c, piece const& from, std::optional<std::string> const& name,
                            std::size_t time) {
  for (auto const& a : from.point_arrays)
    if ((name ? a.name == *name : is_field(a)) && exists_at(a, time)) return a;
  throw skel::usage_error(fmt::format("{}: expected PointData with an array of one component{}, {}",
                                      c.file.path, name ? " named " + *name : "", names_of(from)));
}

/// The coordinates of a piece along an axis.
std::vector<double> read_coordinates(vtk_file const& file, vtk_array const& array, std::size_t count) {
  auto const type = type_of(file, array);
  auto const from = open_array(file, array, count);
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

void read_coordinates(contents const& c, std::size_t time, volume_header& header) {
  for (std::size_t axis = 0; axis < 3; ++axis) header.coordinates[axis].resize(header.size[axis]);
  for (auto const& p : c.pieces) {
    std::vector<vtk_array const*> axes;
    for (auto const& a : p.coordinates)
      if (exists_at(a, time)) axes.push_back(&a);
    if (axes.size() != 3)
      throw skel::usage_error(
          fmt::format("{}: expected 3 arrays of Coordinates, found {}", c.file.path, axes.size()));
    for (std::size_t axis = 0; axis < 3; ++axis)
      std::ranges::copy(read_coordinates(c.file, *axes[axis], p.extent.size(axis)),
                        header.coordinates[axis].begin() + (p.extent.first[axis] - c.extent.first[axis]));
  }
  check_coordinates(header, c.file.path);
}

}  // namespace

std::unique_ptr<volume_reader> open_vtk(std::string const& path, volume_choice const& choice) {
  auto c = vtk_parser(path).parse();
  require_time(path, choice, c.times);
  std::optional<std::string> name;
  if (!choice.variable.empty() || !c.pieces[0].scalars.empty())
    name = choice.variable.empty() ? c.pieces[0].scalars : choice.variable;
  std::vector<vtk_piece> pieces;
  for (auto const& p : c.pieces) {
    auto const& array = find_array(c, p, name, choice.time);
    name = array.name;
    pieces.push_back({p.extent, array});
  }
  volume_header header;
  header.name = path;
  header.type = type_of(c.file, pieces[0].array);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    header.size[axis] = c.extent.size(axis);
    c.origin[axis] += c.spacing[axis] * static_cast<double>(c.extent.first[axis]);
  }
  check_size(header);
  check_pieces(c.file, c.extent, pieces);
  if (c.rectilinear)
    read_coordinates(c, choice.time, header);
  else
    space_evenly(header, c.origin, c.spacing, path);
  return volume_of_pieces(std::move(header), c.file, c.extent, std::move(pieces));
}

std::vector<variable_info> list_vtk(std::string const& path) {
  auto const c = vtk_parser(path).parse();
  std::vector<variable_info> all;
  for (auto const& a : c.pieces[0].point_arrays) {
    if (!exists_at(a, 0)) continue;
    std::array const sizes{c.extent.size(0), c.extent.size(1), c.extent.size(2)};
    auto size = fmt::format("{}", fmt::join(sizes, " x "));
    if (c.times > 1) size += fmt::format(", {} times", c.times);
    if (a.components != "1") size += fmt::format(", {} components", a.components);
    all.push_back({a.name, a.type_name, std::move(size), "", is_field(a) && has_cells(sizes)});
  }
  return all;
}

}  // namespace volume_data
