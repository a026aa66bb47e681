// In place of netcdf_file.cpp where libnetcdf is missing.
#include "formats.hpp"
#include "skel/error.hpp"

namespace volume_data {

namespace {

[[noreturn]] void refuse_netcdf(std::string const& path) {
  throw skel::usage_error(
      path + ": built without netCDF; on Debian: apt-get install libnetcdf-dev, and build again");
}

}  // namespace

std::unique_ptr<volume_reader> open_netcdf(std::string const& path, volume_choice const& /*choice*/) {
  refuse_netcdf(path);
}
std::vector<variable_info> list_netcdf(std::string const& path) { refuse_netcdf(path); }

}  // namespace volume_data
