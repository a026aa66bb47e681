#include "netcdf_file.hpp"

#include <fmt/format.h>
#include <netcdf.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>

#include "byte_source.hpp"
#include "netcdf_classic.hpp"
#include "skel/error.hpp"

namespace volume_data {

namespace {

constexpr int deepest_group = 16;

}  // namespace

netcdf_file::netcdf_file(std::string const& path) : array_file(path) {
  // Other contents could make libnetcdf read other formats, or a URL.
  std::array<char, 8> first{};
  auto const got = file_bytes(path)->read(std::as_writable_bytes(std::span(first)));
  std::string_view const magic(first.data(), got);
  bool const classic =
      magic.starts_with("CDF") && got >= 4 && (first[3] == 1 || first[3] == 2 || first[3] == 5);
  if (!classic && magic != "\x89HDF\r\n\x1a\n") throw skel::usage_error(path + ": expected a netCDF file");
  if (classic) check_classic_netcdf(path);
  check(nc_open(std::filesystem::absolute(path).c_str(), NC_NOWRITE, &file_), "");
}

netcdf_file::~netcdf_file() { nc_close(file_); }

void netcdf_file::check(int status, std::string const& what) const {
  if (status != NC_NOERR)
    throw skel::usage_error(
        fmt::format("{}: {}{}", path(), what.empty() ? "" : what + ": ", nc_strerror(status)));
}

std::vector<array_variable> netcdf_file::variables() const {
  std::vector<array_variable> all;
  add_group(file_, "", 0, all);
  return all;
}

void netcdf_file::add_group(int group, std::string const& prefix, int depth,
                            std::vector<array_variable>& to) const {
  int count = 0;
  check(nc_inq_nvars(group, &count), "variables");
  for (int id = 0; id < count; ++id) to.push_back(variable(group, id, prefix));
  if (depth == deepest_group) return;
  check(nc_inq_grps(group, &count, nullptr), "groups");
  std::vector<int> groups(static_cast<std::size_t>(count));
  check(nc_inq_grps(group, &count, groups.data()), "groups");
  for (auto const inner : groups) {
    std::array<char, NC_MAX_NAME + 1> name{};
    check(nc_inq_grpname(inner, name.data()), "groups");
    add_group(inner, prefix + "/" + name.data(), depth + 1, to);
  }
}

std::vector<int> netcdf_file::dimension_ids(int group, int variable) const {
  int count = 0;
  check(nc_inq_varndims(group, variable, &count), "variables");
  std::vector<int> ids(static_cast<std::size_t>(count));
  check(nc_inq_vardimid(group, variable, ids.data()), "variables");
  return ids;
}

array_variable netcdf_file::variable(int group, int id, std::string const& prefix) const {
  static constexpr std::array<std::string_view, 13> names{"?",       "int8",    "char",  "int16",  "int32",
                                                          "float32", "float64", "uint8", "uint16", "uint32",
                                                          "int64",   "uint64",  "text"};
  std::array<char, NC_MAX_NAME + 1> name{};
  nc_type type = NC_NAT;
  check(nc_inq_var(group, id, name.data(), &type, nullptr, nullptr, nullptr), "variables");
  array_variable v{group,        id,          prefix.empty() ? name.data() : prefix + "/" + name.data(),
                   std::nullopt, "user type", dimension_ids(group, id).size()};
  if (type >= 0 && static_cast<std::size_t>(type) < names.size())
    v.type_name = names[static_cast<std::size_t>(type)];
  if (type >= NC_BYTE && type <= NC_UINT64 && type != NC_CHAR) v.type = type_named(v.type_name, v.name);
  return v;
}

std::vector<array_dimension> netcdf_file::dimensions(array_variable const& of) const {
  std::vector<array_dimension> all;
  for (auto const id : dimension_ids(of.group, of.id)) {
    auto& d = all.emplace_back();
    std::array<char, NC_MAX_NAME + 1> name{};
    check(nc_inq_dim(of.group, id, name.data(), &d.length), "dimensions");
    d.name = name.data();
    int group = of.group;
    for (int status = NC_NOERR; status == NC_NOERR; status = nc_inq_grp_parent(group, &group)) {
      int count = 0;
      check(nc_inq_unlimdims(group, &count, nullptr), "dimensions");
      std::vector<int> unlimited(static_cast<std::size_t>(count));
      check(nc_inq_unlimdims(group, &count, unlimited.data()), "dimensions");
      d.unlimited = d.unlimited || std::ranges::find(unlimited, id) != unlimited.end();
    }
    d.coordinate = coordinate(of.group, id, d.name);
  }
  return all;
}

std::optional<array_variable> netcdf_file::coordinate(int group, int dimension,
                                                      std::string const& name) const {
  for (int status = NC_NOERR; status == NC_NOERR; status = nc_inq_grp_parent(group, &group)) {
    int id = 0;
    if (nc_inq_varid(group, name.c_str(), &id) != NC_NOERR) continue;
    if (dimension_ids(group, id) == std::vector{dimension}) return variable(group, id, "");
  }
  return std::nullopt;
}

std::string netcdf_file::text(array_variable const& of, char const* name) const {
  nc_type type = NC_NAT;
  std::size_t length = 0;
  if (nc_inq_att(of.group, of.id, name, &type, &length) != NC_NOERR) return "";
  if (type == NC_CHAR && length <= longest_text) {
    std::string value(length, '\0');
    check(nc_get_att_text(of.group, of.id, name, value.data()), name);
    return value.substr(0, value.find('\0'));
  }
  if (type != NC_STRING || length != 1) return "";
  char* value = nullptr;
  check(nc_get_att_string(of.group, of.id, name, &value), name);
  std::string copy = value == nullptr ? "" : value;
  nc_free_string(1, &value);
  return copy;
}

std::vector<double> netcdf_file::numbers(array_variable const& of, char const* name) const {
  nc_type type = NC_NAT;
  std::size_t length = 0;
  if (nc_inq_att(of.group, of.id, name, &type, &length) != NC_NOERR) return {};
  if (type == NC_CHAR || type > NC_UINT64 || length > most_numbers) return {};
  std::vector<double> values(length);
  check(nc_get_att_double(of.group, of.id, name, values.data()), name);
  return values;
}

bool netcdf_file::is_floating(array_variable const& of, char const* name) const {
  nc_type type = NC_NAT;
  return nc_inq_atttype(of.group, of.id, name, &type) == NC_NOERR && (type == NC_FLOAT || type == NC_DOUBLE);
}

// The value of places that were never written. A byte has none: all of its values are used.
std::optional<double> netcdf_file::default_fill(array_variable const& of) const {
  if (!of.type) return std::nullopt;
  switch (*of.type) {
    case scalar_type::int16:
      return NC_FILL_SHORT;
    case scalar_type::int32:
      return NC_FILL_INT;
    case scalar_type::float32:
      return NC_FILL_FLOAT;
    case scalar_type::float64:
      return NC_FILL_DOUBLE;
    case scalar_type::uint16:
      return NC_FILL_USHORT;
    case scalar_type::uint32:
      return NC_FILL_UINT;
    case scalar_type::int64:
      return static_cast<double>(NC_FILL_INT64);
    case scalar_type::uint64:
      return static_cast<double>(NC_FILL_UINT64);
    default:
      return std::nullopt;
  }
}

std::vector<std::size_t> netcdf_file::chunks(array_variable const& of) const {
  int storage = NC_CONTIGUOUS;
  std::vector<std::size_t> sizes(of.rank);
  check(nc_inq_var_chunking(of.group, of.id, &storage, sizes.data()), of.name);
  return storage == NC_CHUNKED ? sizes : std::vector<std::size_t>{};
}

void netcdf_file::set_cache(array_variable const& of, std::size_t bytes) {
  constexpr std::size_t slots = 4133;
  check(nc_set_var_chunk_cache(of.group, of.id, bytes, slots, 0.75F), of.name);
}

// Values of classic files take at least a byte each. If HDF5 cannot be asked, deflate is assumed, which
// compresses 1,032 times at the most.
double netcdf_file::written(array_variable const& of) const {
  auto const bytes = static_cast<double>(file_length(path()));
  int format = NC_FORMAT_CLASSIC;
  check(nc_inq_format(file_, &format), of.name);
  bool const hdf5 = format == NC_FORMAT_NETCDF4 || format == NC_FORMAT_NETCDF4_CLASSIC;
  return hdf5 ? written_in_hdf5(path(), of.name).value_or(bytes * 1032) : bytes;
}

void netcdf_file::read(array_variable const& of, std::vector<std::size_t> const& start,
                       std::vector<std::size_t> const& count, std::vector<double>& to) const {
  check(nc_get_vara_double(of.group, of.id, start.data(), count.data(), to.data()), of.name);
}

std::unique_ptr<volume_reader> open_netcdf(std::string const& path, volume_choice const& choice) {
  array_lock const lock;
  return open_arrays(std::make_unique<netcdf_file>(path), choice);
}

std::vector<variable_info> list_netcdf(std::string const& path) {
  array_lock const lock;
  return list_arrays(netcdf_file(path));
}

}  // namespace volume_data
