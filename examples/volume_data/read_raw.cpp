// Raw values described by a sidecar file; docs/reference/volume.md lists the keys.
#include <fmt/format.h>

#include <bit>
#include <limits>

#include "formats.hpp"
#include "program/json.hpp"
#include "skel/error.hpp"
#include "slice_files.hpp"

namespace volume_data {

namespace {

using skel::program::json_reader;

constexpr double largest = std::numeric_limits<double>::max();

std::array<double, 3> three(json_reader const& in, char const* key, double otherwise) {
  if (!in.has(key)) return {otherwise, otherwise, otherwise};
  auto const all = in[key].numbers(-largest, largest, "a number");
  in[key].expect(all.size() == 3, "three numbers");
  return {all[0], all[1], all[2]};
}

void read_coordinates(json_reader const& in, volume_header& header, std::string const& path) {
  if (!in.has("coordinates"))
    return space_evenly(header, three(in, "origin", 0), three(in, "spacing", 1), path);
  if (in.has("origin") || in.has("spacing"))
    in.fail("expected \"coordinates\", or \"origin\" and \"spacing\", not both");
  auto const axes = in["coordinates"].items("three lists of numbers", 3, 3);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    header.coordinates[axis] = axes[axis].numbers(-largest, largest, "a number");
    if (header.coordinates[axis].size() != header.size[axis])
      in["coordinates"].fail(fmt::format("expected {} along axis {}, found {}", header.size[axis], axis,
                                         header.coordinates[axis].size()));
  }
  check_coordinates(header, path);
}

void read_size(json_reader const& in, volume_header& header) {
  auto const all = in.items("three numbers", 3, 3);
  for (std::size_t axis = 0; axis < 3; ++axis)
    header.size[axis] = all[axis].whole<std::size_t>(1, 2147483647);
}

std::int64_t first_number(json_reader const& in) {
  if (!in.has("first")) return 0;
  if (!in.has("files") || !in["files"].value().is_string())
    in["first"].fail("expected \"files\" to be a name with %d");
  return in["first"].whole<std::int64_t>(-1000000000, 1000000000, "a whole number from -1e9 to 1e9");
}

/// "files": a list of names, or a name with %d, counted from "first". The number of files is that
/// of the slices or, without a size, that of existing files.
slice_files listed_files(json_reader const& in, std::int64_t first, volume_header const& header,
                         std::string const& path) {
  if (in.value().is_string())
    return header.size[2] > 0 ? numbered_files(path, in.text(), first, 1, header.size[2])
                              : numbered_files_present(path, in.text(), first);
  slice_files names;
  for (auto const& name : in.items("a name with %d or a list of names"))
    names.push_back(beside(path, name.text()));
  return names;
}

/// The bytes of the values, in one file or in one per slice. A file with an "offset" may contain
/// more.
source raw_values(json_reader const& in, volume_header const& header, slice_files const& files,
                  std::string const& path) {
  auto const at = in.has("offset")
                      ? in["offset"].whole<std::uint64_t>(0, 9000000000000000, "a whole number of bytes")
                      : 0;
  bool const compressed = in.has("compressed") && in["compressed"].flag();
  auto const needed = files.empty() ? header.bytes() : header.slice_bytes();
  auto const open_one = [=, most = in.has("offset") ? needed : UINT64_MAX](std::string const& file) {
    if (compressed || lower(file).ends_with(".gz")) return inflated(file_bytes(file, at));
    return file_bytes(file, at, most);
  };
  if (!files.empty()) return joined_slices(header, files, open_one);
  std::string const own = lower(path).ends_with(".raw.json") ? path.substr(0, path.size() - 5) : "";
  auto const file = in.has("file") ? beside(path, in["file"].text()) : own;
  if (file.empty()) in.fail("expected a key \"file\" with the name of the values' file");
  return open_one(file);
}

std::unique_ptr<volume_reader> open_pictures(json_reader const& in, volume_header header, slice_files files,
                                             std::string const& path) {
  for (auto const* const key : {"type", "byte_order", "offset", "compressed"})
    if (in.has(key)) in[key].fail("pictures say that themselves, expected no such key");
  return picture_slices(std::move(header), std::move(files),
                        [&](volume_header& h) { read_coordinates(in, h, path); });
}

std::unique_ptr<volume_reader> open_described(json_reader const& in, std::string const& path) {
  in.only_keys({"file", "files", "first", "size", "type", "byte_order", "offset", "spacing", "origin",
                "coordinates", "compressed"});
  volume_header header;
  header.name = path;
  if (in.has("size")) read_size(in["size"], header);
  auto const first = first_number(in);
  slice_files files;
  if (in.has("files")) {
    if (in.has("file")) in.fail("expected \"file\" or \"files\", not both");
    files = listed_files(in["files"], first, header, path);
    if (files.empty()) in["files"].fail("expected names of slices, found none");
    if (lower(files[0]).ends_with(".png"))
      return open_pictures(in, std::move(header), std::move(files), path);
  }
  if (!in.has("size")) in.fail("expected a key \"size\" with three numbers");
  check_size(header);
  header.type = type_named(in["type"].text(), path);
  auto const order = in.text_or("byte_order", "little");
  if (order != "little" && order != "big") in["byte_order"].expect(false, "little or big");
  auto values = raw_values(in, header, files, path);
  check_size(header, *values);
  read_coordinates(in, header, path);
  bool const swapped = (order == "big") == (std::endian::native == std::endian::little);
  return stored_volume(std::move(header), std::move(values), swapped);
}

}  // namespace

std::unique_ptr<volume_reader> open_raw(std::string const& sidecar) {
  auto const document = json_reader::parse(read_text(sidecar, std::size_t{64} << 20), sidecar);
  return open_described(json_reader(document, sidecar), sidecar);
}

}  // namespace volume_data
