// In place of hdf5_file.cpp and read_hdf5.cpp where libhdf5 is missing.
#include "array_file.hpp"
#include "skel/error.hpp"

namespace volume_data {

namespace {

[[noreturn]] void refuse_hdf5(std::string const& path) {
  throw skel::usage_error(path +
                          ": built without HDF5; on Debian: apt-get install libhdf5-dev, and build again");
}

}  // namespace

hdf5_printer silence_hdf5() noexcept { return {}; }
void restore(hdf5_printer const& /*before*/) noexcept {}

std::optional<double> written_in_hdf5(std::string const& /*path*/, std::string const& /*variable*/) {
  return std::nullopt;
}

std::unique_ptr<volume_reader> open_hdf5(std::string const& path, volume_choice const& /*choice*/) {
  refuse_hdf5(path);
}
std::vector<variable_info> list_hdf5(std::string const& path) { refuse_hdf5(path); }

}  // namespace volume_data
