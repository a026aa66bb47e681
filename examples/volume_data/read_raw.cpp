// Raw values described by a sidecar file; docs/reference/volume.md lists the keys.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "formats.hpp"
#include "program/parse_json.hpp"
#include "skel/error.hpp"
#include "slice_files.hpp"

namespace volume_data {

namespace {

using nlohmann::json;

std::array<double, 3> three(json const& j, char const* key, double otherwise) {
  if (!j.contains(key)) return {otherwise, otherwise, otherwise};
  return j.at(key).get<std::array<double, 3>>();
}

void read_coordinates(json const& j, volume_header& header, std::string const& path) {
  if (!j.contains("coordinates"))
    return space_evenly(header, three(j, "origin", 0), three(j, "spacing", 1), path);
  if (j.contains("origin") || j.contains("spacing"))
    throw skel::usage_error(path + ": expected \"coordinates\", or \"origin\" and \"spacing\", not both");
  header.coordinates = j.at("coordinates").get<std::array<std::vector<double>, 3>>();
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (header.coordinates[axis].size() != header.size[axis])
      throw skel::usage_error(fmt::format("{}: coordinates: expected {} along axis {}, found {}", path,
                                          header.size[axis], axis, header.coordinates[axis].size()));
  check_coordinates(header, path);
}

void check_keys(json const& j, std::string const& path) {
  static constexpr std::array known{"file",   "files",   "first",  "size",        "type",      "byte_order",
                                    "offset", "spacing", "origin", "coordinates", "compressed"};
  for (auto const& item : j.items())
    if (std::ranges::find(known, item.key()) == known.end())
      throw skel::usage_error(
          fmt::format("{}: unknown key \"{}\"; known: {}", path, item.key(), fmt::join(known, ", ")));
}

void read_size(json const& j, volume_header& header, std::string const& path) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto const n = j.at("size").at(axis).get<double>();
    if (!(n >= 1 && n < 2147483648.0) || n != std::floor(n))
      throw skel::usage_error(path + ": size: expected three whole numbers from 1 to 2147483647");
    header.size[axis] = static_cast<std::size_t>(n);
  }
  if (j.at("size").size() != 3) throw skel::usage_error(path + ": size: expected three numbers");
}

std::int64_t first_number(json const& j, std::string const& path) {
  if (!j.contains("first")) return 0;
  if (!j.contains("files") || !j.at("files").is_string())
    throw skel::usage_error(path + ": first: expected \"files\" to be a name with %d");
  constexpr double most = 1e9;
  auto const& first = j.at("first");
  if (!first.is_number_integer() || std::abs(first.get<double>()) > most)
    throw skel::usage_error(path + ": first: expected a whole number from -1e9 to 1e9");
  return first.get<std::int64_t>();
}

/// "files": a list of names, or a name with %d, counted from "first". The number of files is that
/// of the slices or, without a size, that of existing files.
slice_files listed_files(json const& j, std::int64_t first, volume_header const& header,
                         std::string const& path) {
  auto const& files = j.at("files");
  if (files.is_string()) {
    auto const pattern = files.get<std::string>();
    return header.size[2] > 0 ? numbered_files(path, pattern, first, 1, header.size[2])
                              : numbered_files_present(path, pattern, first);
  }
  slice_files names;
  for (auto const& name : files) names.push_back(beside(path, name.get<std::string>()));
  return names;
}

/// The bytes of the values, in one file or in one per slice. A file with an "offset" may contain
/// more.
source raw_values(json const& j, volume_header const& header, slice_files const& files,
                  std::string const& path) {
  auto const offset = j.value("offset", 0.0);
  if (!(offset >= 0 && offset < 9e15) || offset != std::floor(offset))
    throw skel::usage_error(path + ": offset: expected a whole number of bytes");
  bool const compressed = j.value("compressed", false);
  auto const needed = files.empty() ? header.bytes() : header.slice_bytes();
  auto const open_one = [=, most = j.contains("offset") ? needed : UINT64_MAX](std::string const& file) {
    auto const at = static_cast<std::uint64_t>(offset);
    if (compressed || lower(file).ends_with(".gz")) return inflated(file_bytes(file, at));
    return file_bytes(file, at, most);
  };
  if (!files.empty()) return joined_slices(header, files, open_one);
  std::string const own = lower(path).ends_with(".raw.json") ? path.substr(0, path.size() - 5) : "";
  auto const file = j.contains("file") ? beside(path, j.at("file").get<std::string>()) : own;
  if (file.empty())
    throw skel::usage_error(path + ": expected a key \"file\" with the name of the values' file");
  return open_one(file);
}

std::unique_ptr<volume_reader> open_pictures(json const& j, volume_header header, slice_files files,
                                             std::string const& path) {
  for (auto const* const key : {"type", "byte_order", "offset", "compressed"})
    if (j.contains(key))
      throw skel::usage_error(
          fmt::format("{}: {}: pictures say that themselves, expected no such key", path, key));
  return picture_slices(std::move(header), std::move(files),
                        [&](volume_header& h) { read_coordinates(j, h, path); });
}

std::unique_ptr<volume_reader> open_described(json const& j, std::string const& path) {
  check_keys(j, path);
  volume_header header;
  header.name = path;
  if (j.contains("size")) read_size(j, header, path);
  auto const first = first_number(j, path);
  slice_files files;
  if (j.contains("files")) {
    if (j.contains("file")) throw skel::usage_error(path + ": expected \"file\" or \"files\", not both");
    files = listed_files(j, first, header, path);
    if (files.empty()) throw skel::usage_error(path + ": files: expected names of slices, found none");
    if (lower(files[0]).ends_with(".png")) return open_pictures(j, std::move(header), std::move(files), path);
  }
  if (!j.contains("size")) throw skel::usage_error(path + ": expected a key \"size\" with three numbers");
  check_size(header);
  header.type = type_named(j.at("type").get<std::string>(), path);
  auto const order = j.value("byte_order", std::string("little"));
  if (order != "little" && order != "big")
    throw skel::usage_error(fmt::format("{}: byte_order: expected little or big, found \"{}\"", path, order));
  auto values = raw_values(j, header, files, path);
  check_size(header, *values);
  read_coordinates(j, header, path);
  bool const swapped = (order == "big") == (std::endian::native == std::endian::little);
  return stored_volume(std::move(header), std::move(values), swapped);
}

}  // namespace

std::unique_ptr<volume_reader> open_raw(std::string const& sidecar) {
  try {
    return open_described(skel::program::parse_json(read_text(sidecar, std::size_t{64} << 20)), sidecar);
  } catch (json::exception const& e) {
    std::string text = e.what();
    for (auto& c : text)
      if (c == '\n') c = ' ';
    throw skel::usage_error(sidecar + ": " + text.substr(0, 200));
  }
}

}  // namespace volume_data
