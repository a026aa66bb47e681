// Without libnetcdf, a file that needs it is refused.
#include "catch.hpp"
#include "files.hpp"

TEST_CASE("netCDF is refused without its library") {
  CHECK(test::contains(test::error_of("a.nc"),
                       "a.nc: built without netCDF; on Debian: apt-get install libnetcdf-dev"));
  CHECK(test::contains(test::message_of([] { static_cast<void>(volume_data::list_variables("a.nc")); }),
                       "a.nc: built without netCDF"));
}
