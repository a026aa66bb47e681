// In place of read_netcdf.cpp where libnetcdf is missing.
#include "formats.hpp"
#include "skel/error.hpp"

namespace volume_data {

namespace {

[[noreturn]] void refuse(std::string const& path) {
  throw skel::usage_error(
      path + ": built without netCDF; on Debian: apt-get install libnetcdf-dev, and build again");
}

}  // namespace

std::unique_ptr<volume_reader> open_netcdf(std::string const& path, volume_choice const& /*choice*/) {
  refuse(path);
}
std::vector<variable_info> list_netcdf(std::string const& path) { refuse(path); }

}  // namespace volume_data
