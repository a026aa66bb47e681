// libFuzzer: any bytes in a file of any format give a volume or an error, and reading with skipped
// slices gives the same values. The first byte selects the format, unless the input is a VTK XML
// or a classic netCDF file (HDF5 crashes with damaged files). Other files named in a header do not
// exist.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "grid.hpp"

namespace {

/// A file with each extension in a folder of its own.
std::string path_of(unsigned format) {
  static constexpr std::array endings{".vti", ".vtr",  ".nrrd", ".nhdr", ".mha",
                                      ".mhd", ".json", ".png",  ".nc"};
  static std::string const folder = [] {
    std::string name = "/tmp/skel-fuzz-volume-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    return name;
  }();
  return folder + "/v" + endings[format];
}

/// A picture becomes the only slice of a stack.
std::string volume_of(std::string const& path) {
  if (!path.ends_with(".png")) return path;
  auto const stack = path + ".json";
  static bool const written = static_cast<bool>(std::ofstream(stack) << R"({"files": ["v.png"]})");
  if (!written) std::abort();
  return stack;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr unsigned selected = 8, netcdf = 8;  // the formats that a byte selects
  bool const whole = data[0] == '<' || data[0] == 'C';
  auto const path = path_of(data[0] == '<' ? 0U : data[0] == 'C' ? netcdf : data[0] % selected);
  auto const content = fuzz::input{data, size}.bytes().subspan(whole ? 0 : 1);
  int const file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);  // NOLINT
  if (file < 0 || write(file, content.data(), content.size()) != static_cast<ssize_t>(content.size()))
    std::abort();
  close(file);
  std::optional<volume_data::grid> read;
  fuzz::expect_error_or_result([&] {
    read = volume_data::read_grid(volume_of(path));
    auto const& g = *read;
    if (g.values.size() != g.header.bytes()) std::abort();
    for (std::size_t d = 0; d < 3; ++d)
      if (g.header.coordinates[d].size() != g.header.size[d]) std::abort();
  });
  if (!read) return 0;
  auto const volume = volume_data::open_volume(volume_of(path));
  std::vector<std::byte> last(read->header.slice_bytes());
  volume->skip(read->header.size[2] - 1);
  volume->read(std::span(last));
  if (!std::ranges::equal(last, std::span(read->values).last(last.size()))) std::abort();
  return 0;
}
