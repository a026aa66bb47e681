// Raw values with a sidecar that says what they are: docs/volume.md has the keys.
#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "formats.hpp"
#include "skel/error.hpp"

namespace skel::volume_data {

namespace {

using nlohmann::json;

std::array<double, 3> three(json const& j, char const* key, double otherwise) {
  if (!j.contains(key)) return {otherwise, otherwise, otherwise};
  return j.at(key).get<std::array<double, 3>>();
}

void read_coordinates(json const& j, volume_header& header, std::string const& path) {
  if (!j.contains("coordinates"))
    return space_evenly(header, three(j, "origin", 0), three(j, "spacing", 1), path);
  header.coordinates = j.at("coordinates").get<std::array<std::vector<double>, 3>>();
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (header.coordinates[axis].size() != header.size[axis])
      throw usage_error(fmt::format("{}: coordinates: expected {} along axis {}, got {}", path,
                                    header.size[axis], axis, header.coordinates[axis].size()));
  check_coordinates(header, path);
}

std::unique_ptr<volume_reader> open_described(json const& j, std::string const& path) {
  static constexpr std::array known{"file",   "size",   "type",        "byte_order", "spacing",
                                    "origin", "offset", "coordinates", "compressed"};
  for (auto const& item : j.items())
    if (std::ranges::find(known, item.key()) == known.end())
      throw usage_error(
          fmt::format("{}: unknown key \"{}\"; known: file, size, type, byte_order, spacing, origin, offset, "
                      "coordinates, "
                      "compressed",
                      path, item.key()));
  volume_header header;
  header.name = path;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto const n = j.at("size").at(axis).get<double>();
    if (!(n >= 1 && n < 2147483648.0))
      throw usage_error(path + ": size: expected three from 1 to 2147483647");
    header.size[axis] = static_cast<std::size_t>(n);
  }
  if (j.at("size").size() != 3) throw usage_error(path + ": size: expected three numbers");
  header.type = type_named(j.at("type").get<std::string>(), path);
  auto const order = j.value("byte_order", std::string("little"));
  if (order != "little" && order != "big")
    throw usage_error(fmt::format("{}: byte_order: expected little or big, got \"{}\"", path, order));
  std::string own = path.ends_with(".raw.json") ? path.substr(0, path.size() - 5) : "";
  auto const file = j.contains("file") ? beside(path, j.at("file").get<std::string>()) : own;
  if (file.empty()) throw usage_error(path + ": expected a key \"file\" with the name of the values' file");
  auto const offset = j.value("offset", 0.0);
  if (!(offset >= 0 && offset < 9e15)) throw usage_error(path + ": offset: expected a number of bytes");
  auto values = file_bytes(file, static_cast<std::uint64_t>(offset));
  if (j.value("compressed", false)) values = inflated(std::move(values));
  check_size(header, *values);
  read_coordinates(j, header, path);
  bool const swapped = (order == "big") == (std::endian::native == std::endian::little);
  return stored_volume(std::move(header), std::move(values), swapped);
}

}  // namespace

std::unique_ptr<volume_reader> open_raw(std::string const& sidecar) {
  try {
    return open_described(json::parse(read_text(sidecar, std::size_t{64} << 20)), sidecar);
  } catch (json::exception const& e) {
    std::string text = e.what();
    for (auto& c : text)
      if (c == '\n') c = ' ';
    throw usage_error(sidecar + ": " + text.substr(0, 200));
  }
}

}  // namespace skel::volume_data
