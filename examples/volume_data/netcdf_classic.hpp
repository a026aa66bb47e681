// The header of a classic netCDF file (CDF-1, CDF-2, CDF-5).
#pragma once

#include <string>

namespace volume_data {

/// Checks that the file is as long as its header says, because libnetcdf reads zeros behind its end
/// and allocates what a header announces. Throws usage_error `path: at byte N: ...`.
void check_classic_netcdf(std::string const& path);

}  // namespace volume_data
