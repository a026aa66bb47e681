// MetaImage (.mha with its values, .mhd beside them), as ITK writes it:
// itk.org/Wiki/ITK/MetaIO/Documentation.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "formats.hpp"
#include "header_lines.hpp"
#include "program/text.hpp"
#include "skel/error.hpp"
#include "slice_files.hpp"

namespace volume_data {

namespace {

scalar_type meta_type(std::string const& name, std::string const& place) {
  static std::map<std::string, scalar_type, std::less<>> const types{
      {"MET_CHAR", scalar_type::int8},       {"MET_UCHAR", scalar_type::uint8},
      {"MET_SHORT", scalar_type::int16},     {"MET_USHORT", scalar_type::uint16},
      {"MET_INT", scalar_type::int32},       {"MET_UINT", scalar_type::uint32},
      {"MET_LONG_LONG", scalar_type::int64}, {"MET_ULONG_LONG", scalar_type::uint64},
      {"MET_FLOAT", scalar_type::float32},   {"MET_DOUBLE", scalar_type::float64}};
  auto const found = types.find(name);
  if (found == types.end())
    throw skel::usage_error(fmt::format(
        "{}: ElementType: expected MET_CHAR, MET_UCHAR, MET_SHORT, MET_USHORT, MET_INT, MET_UINT, "
        "MET_LONG_LONG, MET_ULONG_LONG, MET_FLOAT or MET_DOUBLE, found \"{}\"",
        place, name));
  return found->second;
}

bool truth(header_lines const& lines, char const* key) {
  auto const text = lower(lines.value(lower(key), "false"));
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  throw skel::usage_error(
      fmt::format("{}: {}: expected True or False, found \"{}\"", lines.path(), key, text));
}

void expect(header_lines const& lines, char const* key, std::string_view value) {
  auto const got = lines.value(lower(key), value);
  if (got != value)
    throw skel::usage_error(fmt::format("{}: {}: expected {}, found \"{}\"", lines.path(), key, value, got));
}

/// The values in one file, `count` bytes of them, from `at` or behind its own header. More bytes
/// may follow if there is a HeaderSize.
source meta_file(header_lines const& lines, std::string const& file, std::uint64_t at, std::uint64_t count) {
  if (truth(lines, "CompressedData")) return inflated(file_bytes(file, at));
  auto const skip = lines.value("headersize", "0");
  if (skip == "-1") {  // the values are at the end of the file
    auto const length = file_length(file);
    return file_bytes(file, std::max(at, length - std::min(length, count)));
  }
  auto const bytes = skel::program::to_number<std::uint64_t>(skip);
  if (!bytes || *bytes > UINT64_MAX - at)
    throw skel::usage_error(
        fmt::format("{}: HeaderSize: expected a number, found \"{}\"", lines.path(), skip));
  return file_bytes(file, at + *bytes, lines.has("headersize") ? count : UINT64_MAX);
}

source meta_values(header_lines const& lines, volume_header const& header) {
  auto const name = lines.need("elementdatafile");
  bool const list = name.starts_with("LIST");
  if (list && name != "LIST" && name != "LIST 2" && name != "LIST 2D")
    throw skel::usage_error(
        lines.path() + ": ElementDataFile: expected a LIST of files of dimension 2, found \"" + name + '"');
  if (list || name.find('%') != std::string::npos) {
    auto const slice = header.slice_bytes();
    return joined_slices(
        header, list ? lines.listed() : numbered_files(lines.path(), name),
        [lines, slice](std::string const& file) { return meta_file(lines, file, 0, slice); });
  }
  if (lower(name) == "local") return meta_file(lines, lines.path(), lines.end(), header.bytes());
  return meta_file(lines, beside(lines.path(), name), 0, header.bytes());
}

}  // namespace

std::unique_ptr<volume_reader> open_meta_image(std::string const& path) {
  header_lines const lines(path, '=', header_lines::until::element_data_file);
  volume_header header;
  header.name = path;
  if (!lines.ended())
    throw skel::usage_error(path + ": expected a line ElementDataFile = ...: not a MetaImage file");
  if (lines.need("ndims") != "3")
    throw skel::usage_error(fmt::format("{}: NDims: expected 3, found \"{}\"", path, lines.need("ndims")));
  expect(lines, "ElementNumberOfChannels", "1");
  expect(lines, "BinaryData", "True");
  header.type = meta_type(lines.need("elementtype"), path);
  parse_sizes(lines.need("dimsize"), header.size, path, "DimSize");
  check_size(header);
  auto values = meta_values(lines, header);
  check_size(header, *values);

  std::array<double, 9> matrix{1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (auto const* const key : {"transformmatrix", "rotation", "orientation"})
    if (lines.has(key)) parse_numbers(lines.need(key), matrix, path, key);
  if (!is_unit(matrix))
    throw skel::usage_error(
        path + ": TransformMatrix: expected 1 0 0 0 1 0 0 0 1: only axis-aligned grids are read");
  std::array<double, 3> origin{};
  std::array<double, 3> spacing{1, 1, 1};
  for (auto const* const key : {"elementsize", "elementspacing"})
    if (lines.has(key)) parse_numbers(lines.need(key), spacing, path, key);
  for (auto const* const key : {"position", "origin", "offset"})
    if (lines.has(key)) parse_numbers(lines.need(key), origin, path, key);
  space_evenly(header, origin, spacing, path);
  bool const big = truth(lines, "BinaryDataByteOrderMSB") || truth(lines, "ElementByteOrderMSB");
  bool const swapped = big == (std::endian::native == std::endian::little);
  return stored_volume(std::move(header), std::move(values), swapped);
}

}  // namespace volume_data
