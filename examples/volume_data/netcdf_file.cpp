#include "netcdf_file.hpp"

#include <fmt/format.h>

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
constexpr std::size_t longest_text = 4096, most_numbers = 4096;

}  // namespace

netcdf_file::netcdf_file(std::string path) : path_(std::move(path)) {
  // Other contents could make libnetcdf read other formats, or a URL.
  std::array<char, 8> first{};
  auto const got = file_bytes(path_)->read(std::as_writable_bytes(std::span(first)));
  std::string_view const magic(first.data(), got);
  bool const classic =
      magic.starts_with("CDF") && got >= 4 && (first[3] == 1 || first[3] == 2 || first[3] == 5);
  if (!classic && magic != "\x89HDF\r\n\x1a\n") throw skel::usage_error(path_ + ": expected a netCDF file");
  if (classic) check_classic_netcdf(path_);
  check(nc_open(std::filesystem::absolute(path_).c_str(), NC_NOWRITE, &file_), "");
}

netcdf_file::~netcdf_file() { nc_close(file_); }

std::unique_lock<std::mutex> netcdf_file::lock() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

void netcdf_file::check(int status, std::string const& what) const {
  if (status != NC_NOERR)
    throw skel::usage_error(
        fmt::format("{}: {}{}", path_, what.empty() ? "" : what + ": ", nc_strerror(status)));
}

std::vector<netcdf_variable> netcdf_file::variables() const {
  std::vector<netcdf_variable> all;
  add_group(file_, "", 0, all);
  return all;
}

void netcdf_file::add_group(int group, std::string const& prefix, int depth,
                            std::vector<netcdf_variable>& to) const {
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

netcdf_variable netcdf_file::variable(int group, int id, std::string const& prefix) const {
  netcdf_variable v{group, id, "", NC_NAT, {}};
  std::array<char, NC_MAX_NAME + 1> name{};
  int dimensions = 0;
  check(nc_inq_varndims(group, id, &dimensions), "variables");
  v.dimensions.resize(static_cast<std::size_t>(dimensions));
  check(nc_inq_var(group, id, name.data(), &v.type, nullptr, v.dimensions.data(), nullptr), "variables");
  v.name = prefix.empty() ? name.data() : prefix + "/" + name.data();
  return v;
}

netcdf_dimension netcdf_file::dimension(int group, int id) const {
  netcdf_dimension d;
  std::array<char, NC_MAX_NAME + 1> name{};
  check(nc_inq_dim(group, id, name.data(), &d.length), "dimensions");
  d.name = name.data();
  for (int status = NC_NOERR; status == NC_NOERR; status = nc_inq_grp_parent(group, &group)) {
    int count = 0;
    check(nc_inq_unlimdims(group, &count, nullptr), "dimensions");
    std::vector<int> unlimited(static_cast<std::size_t>(count));
    check(nc_inq_unlimdims(group, &count, unlimited.data()), "dimensions");
    d.unlimited = d.unlimited || std::ranges::find(unlimited, id) != unlimited.end();
  }
  return d;
}

std::optional<netcdf_variable> netcdf_file::coordinate(int group, int dimension) const {
  std::array<char, NC_MAX_NAME + 1> name{};
  check(nc_inq_dimname(group, dimension, name.data()), "dimensions");
  for (int status = NC_NOERR; status == NC_NOERR; status = nc_inq_grp_parent(group, &group)) {
    int id = 0;
    if (nc_inq_varid(group, name.data(), &id) != NC_NOERR) continue;
    auto found = variable(group, id, "");
    if (found.dimensions == std::vector{dimension}) return found;
  }
  return std::nullopt;
}

std::string netcdf_file::text(netcdf_variable const& of, char const* name) const {
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

std::vector<double> netcdf_file::numbers(netcdf_variable const& of, char const* name) const {
  nc_type type = NC_NAT;
  std::size_t length = 0;
  if (nc_inq_att(of.group, of.id, name, &type, &length) != NC_NOERR) return {};
  if (type == NC_CHAR || type > NC_UINT64 || length > most_numbers) return {};
  std::vector<double> values(length);
  check(nc_get_att_double(of.group, of.id, name, values.data()), name);
  return values;
}

std::vector<std::size_t> netcdf_file::chunks(netcdf_variable const& of) const {
  int storage = NC_CONTIGUOUS;
  std::vector<std::size_t> sizes(of.dimensions.size());
  check(nc_inq_var_chunking(of.group, of.id, &storage, sizes.data()), of.name);
  return storage == NC_CHUNKED ? sizes : std::vector<std::size_t>{};
}

void netcdf_file::set_cache(netcdf_variable const& of, std::size_t bytes) const {
  constexpr std::size_t slots = 4133;
  check(nc_set_var_chunk_cache(of.group, of.id, bytes, slots, 0.75F), of.name);
}

void netcdf_file::read(netcdf_variable const& of, std::vector<std::size_t> const& start,
                       std::vector<std::size_t> const& count, std::vector<double>& to) const {
  check(nc_get_vara_double(of.group, of.id, start.data(), count.data(), to.data()), of.name);
}

}  // namespace volume_data
