// libFuzzer: any bytes in a file of any format are a volume or an error. The first byte chooses the format;
// what other files a header names, there are none.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>

#include "fuzz.hpp"
#include "grid.hpp"

namespace {

/// A file of each ending in a folder of its own.
std::string path_of(unsigned format) {
  static constexpr std::array endings{".vti", ".vtr", ".nrrd", ".nhdr", ".mha", ".mhd", ".json", ".png"};
  static std::string const folder = [] {
    std::string name = "/tmp/skel-fuzz-volume-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    return name;
  }();
  return folder + "/v" + endings[format % endings.size()];
}

/// A picture is the only slice of a stack.
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
  auto const path = path_of(data[0]);
  int const file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);  // NOLINT
  if (file < 0 || write(file, data + 1, size - 1) != static_cast<ssize_t>(size - 1)) std::abort();
  close(file);
  fuzz::expect_error_or_result([&] {
    auto const g = skel::volume_data::read_grid(volume_of(path));
    if (g.values.size() != g.header.bytes()) std::abort();
    for (std::size_t d = 0; d < 3; ++d)
      if (g.header.coordinates[d].size() != g.header.size[d]) std::abort();
  });
  return 0;
}
