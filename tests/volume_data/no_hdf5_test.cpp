// Without libhdf5, a file that needs it is refused.
#include "catch.hpp"
#include "files.hpp"

TEST_CASE("HDF5 is refused without its library") {
  CHECK(test::contains(test::error_of("a.h5"),
                       "a.h5: built without HDF5; on Debian: apt-get install libhdf5-dev"));
  CHECK(test::contains(test::message_of([] { static_cast<void>(volume_data::list_variables("a.vtkhdf")); }),
                       "a.vtkhdf: built without HDF5"));
}
