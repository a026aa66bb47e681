// NRRD, "nearly raw raster data": teem.sourceforge.net/nrrd/format.html. Attached (.nrrd) and detached
// (.nhdr).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <sstream>

#include "formats.hpp"
#include "header_lines.hpp"
#include "program/text.hpp"
#include "skel/error.hpp"
#include "slice_files.hpp"

namespace volume_data {

namespace {

scalar_type nrrd_type(std::string_view name, std::string const& place) {
  static std::map<std::string, scalar_type, std::less<>> const types{
      {"signed char", scalar_type::int8},
      {"int8", scalar_type::int8},
      {"int8_t", scalar_type::int8},
      {"uchar", scalar_type::uint8},
      {"unsigned char", scalar_type::uint8},
      {"uint8", scalar_type::uint8},
      {"uint8_t", scalar_type::uint8},
      {"short", scalar_type::int16},
      {"short int", scalar_type::int16},
      {"signed short", scalar_type::int16},
      {"signed short int", scalar_type::int16},
      {"int16", scalar_type::int16},
      {"int16_t", scalar_type::int16},
      {"ushort", scalar_type::uint16},
      {"unsigned short", scalar_type::uint16},
      {"unsigned short int", scalar_type::uint16},
      {"uint16", scalar_type::uint16},
      {"uint16_t", scalar_type::uint16},
      {"int", scalar_type::int32},
      {"signed int", scalar_type::int32},
      {"int32", scalar_type::int32},
      {"int32_t", scalar_type::int32},
      {"uint", scalar_type::uint32},
      {"unsigned int", scalar_type::uint32},
      {"uint32", scalar_type::uint32},
      {"uint32_t", scalar_type::uint32},
      {"longlong", scalar_type::int64},
      {"long long", scalar_type::int64},
      {"long long int", scalar_type::int64},
      {"signed long long", scalar_type::int64},
      {"signed long long int", scalar_type::int64},
      {"int64", scalar_type::int64},
      {"int64_t", scalar_type::int64},
      {"ulonglong", scalar_type::uint64},
      {"unsigned long long", scalar_type::uint64},
      {"unsigned long long int", scalar_type::uint64},
      {"uint64", scalar_type::uint64},
      {"uint64_t", scalar_type::uint64},
      {"float", scalar_type::float32},
      {"double", scalar_type::float64}};
  auto const found = types.find(name);
  if (found == types.end())
    throw skel::usage_error(fmt::format(
        "{}: type: expected an integer of 8 to 64 bits, signed or not, float or double, found \"{}\"", place,
        name));
  return found->second;
}

/// "(1,0,0) (0,2,0) (0,0,3)": only grids along the axes have rectilinear coordinates.
void space_directions(std::string_view text, std::array<double, 3>& spacing, std::string const& place) {
  std::string plain(text);
  for (auto& c : plain)
    if (c == '(' || c == ')' || c == ',') c = ' ';
  std::array<double, 9> m{};
  parse_numbers(plain, m, place, "space directions");
  if (!is_diagonal(m))
    throw skel::usage_error(
        place + ": space directions: expected directions along the axes, none backwards, found \"" +
        std::string(text.substr(0, 60)) + '"');
  spacing = {m[0], m[4], m[8]};
}

/// Rejects axes that are not spatial, such as three colours of a picture.
void check_kinds(header_lines const& lines) {
  static constexpr std::array known{"domain", "space", "time", "none", "???"};
  std::istringstream words(lines.value("kinds", ""));
  for (std::string word; words >> word;)
    if (std::ranges::find(known, lower(word)) == known.end())
      throw skel::usage_error(fmt::format("{}: kinds: expected axes of space or time, found \"{}\"",
                                          lines.path(), lines.need("kinds").substr(0, 60)));
}

struct axes {
  std::array<double, 3> origin{}, spacing{1, 1, 1};
};

axes read_axes(header_lines const& lines) {
  auto const& path = lines.path();
  axes a;
  bool const directed = lines.has("space directions");
  if (directed && lines.has("spacings"))
    throw skel::usage_error(path + ": expected spacings or space directions, not both");
  if (!directed && !lines.has("spacings") && lines.has("axis maxs"))
    throw skel::usage_error(path + ": axis maxs: expected spacings or space directions");
  if (lines.has("spacings")) parse_numbers(lines.need("spacings"), a.spacing, path, "spacings");
  if (lines.has("axis mins")) parse_numbers(lines.need("axis mins"), a.origin, path, "axis mins");
  if (directed) space_directions(lines.need("space directions"), a.spacing, path);
  if (lines.has("space origin")) {
    auto const t = lines.need("space origin");
    auto const inside = t.size() > 2 && t.front() == '(' && t.back() == ')' ? t.substr(1, t.size() - 2) : t;
    std::string plain(inside);
    for (auto& c : plain)
      if (c == ',') c = ' ';
    parse_numbers(plain, a.origin, path, "space origin");
  }
  return a;
}

std::uint64_t skip(header_lines const& lines, char const* key) {
  auto const text = lines.value(key, "0");
  auto const n = skel::program::to_number<std::int64_t>(text);
  if (!n || *n < -1)
    throw skel::usage_error(fmt::format("{}: {}: expected a number, found \"{}\"", lines.path(), key, text));
  return *n < 0 ? UINT64_MAX : static_cast<std::uint64_t>(*n);
}

bool is_text(std::string_view encoding) {
  return encoding == "text" || encoding == "txt" || encoding == "ascii";
}

/// The values in one file, `count` bytes of them, behind the part that is skipped from `at`. If a
/// part is skipped, more bytes may follow.
source nrrd_file(header_lines const& lines, scalar_type type, std::string const& file, std::uint64_t at,
                 std::uint64_t count) {
  at = after_lines(file, at, skip(lines, "line skip"));
  auto const encoding = lower(lines.need("encoding"));
  auto const bytes = skip(lines, "byte skip");
  if (is_text(encoding)) return from_text(file_bytes(file, at), type);
  if (encoding == "raw") {
    bool const chosen = lines.has("line skip") || lines.has("byte skip");
    if (bytes != UINT64_MAX)
      return file_bytes(file, at > UINT64_MAX - bytes ? UINT64_MAX : at + bytes, chosen ? count : UINT64_MAX);
    auto const length = file_length(file);  // -1: the values are at the end of the file
    return file_bytes(file, std::max(at, length - std::min(length, count)));
  }
  if (encoding != "gzip" && encoding != "gz")
    throw skel::usage_error(
        fmt::format("{}: encoding: expected raw, gzip or ascii, found \"{}\"", lines.path(), encoding));
  auto values = inflated(file_bytes(file, at));
  if (bytes != UINT64_MAX) values->skip(bytes);
  return values;
}

/// LIST or `pattern first last step`, either with the dimension of a file's data, which is 2 here.
slice_files nrrd_files(header_lines const& lines, std::string_view name) {
  auto const words = std::ranges::count(name, ' ');
  bool const list = name.starts_with("LIST");
  if (words == (list ? 1 : 4)) {
    if (!name.ends_with(" 2"))
      throw skel::usage_error(fmt::format(
          "{}: data file: expected files of dimension 2, slices, found \"{}\"", lines.path(), name));
    name.remove_suffix(2);
  }
  return list ? lines.listed() : numbered_files(lines.path(), name);
}

/// Whether the name has %d or the like, and numbers behind it. The name of a single file may have blanks.
bool is_pattern(std::string_view name) {
  auto const percent = name.find('%');
  auto const d = name.find_first_not_of("0123456789", std::min(percent, name.size() - 1) + 1);
  return percent != std::string_view::npos && d != std::string_view::npos && name[d] == 'd' &&
         name.find(' ', d) != std::string_view::npos;
}

source nrrd_values(header_lines const& lines, volume_header const& header) {
  auto const name = lines.value("data file", lines.value("datafile", ""));
  if (name.starts_with("LIST") || is_pattern(name)) {
    auto const slice = header.slice_bytes();
    return joined_slices(header, nrrd_files(lines, name),
                         [lines, type = header.type, slice](auto const& file) {
                           return nrrd_file(lines, type, file, 0, slice);
                         });
  }
  if (name.empty() && !lines.ended())
    throw skel::usage_error(lines.path() + ": expected an empty line after the header, or a \"data file\"");
  auto const bytes = header.bytes();
  return name.empty() ? nrrd_file(lines, header.type, lines.path(), lines.end(), bytes)
                      : nrrd_file(lines, header.type, beside(lines.path(), name), 0, bytes);
}

}  // namespace

std::unique_ptr<volume_reader> open_nrrd(std::string const& path) {
  header_lines const lines(path, ':', header_lines::until::empty_line);
  if (!lines.first().starts_with("NRRD000"))
    throw skel::usage_error(path + ": expected a first line NRRD0001 to NRRD0005: not a NRRD file");
  volume_header header;
  header.name = path;
  if (lines.need("dimension") != "3")
    throw skel::usage_error(
        fmt::format("{}: dimension: expected 3, found \"{}\"", path, lines.need("dimension")));
  header.type = nrrd_type(lower(lines.need("type")), path);
  parse_sizes(lines.need("sizes"), header.size, path, "sizes");
  check_size(header);
  bool const text = is_text(lower(lines.need("encoding")));
  auto values = nrrd_values(lines, header);
  check_size(header, *values);

  check_kinds(lines);
  auto const [origin, spacing] = read_axes(lines);
  space_evenly(header, origin, spacing, path);
  auto const endian = lower(lines.value("endian", size_of(header.type) > 1 && !text ? "" : "little"));
  if (endian != "little" && endian != "big")
    throw skel::usage_error(fmt::format("{}: endian: expected little or big, found \"{}\"", path, endian));
  bool const swapped = !text && (endian == "big") == (std::endian::native == std::endian::little);
  return stored_volume(std::move(header), std::move(values), swapped);
}

}  // namespace volume_data
