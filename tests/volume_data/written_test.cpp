// Files that other libraries have written while the tests run: written.sh.
#include <cstdlib>
#include <sstream>

#include "catch.hpp"
#include "check_volume.hpp"

using namespace volume_data;

namespace {

// Reads every line `FILE TYPE TIME VARIABLE` of the file "list" in the folder.
void check_all(std::string const& folder) {
  std::ifstream list(folder + "/list");
  std::size_t files = 0;
  for (std::string line; std::getline(list, line); ++files) {
    INFO(line);
    std::istringstream words(line);
    std::string file, type;
    volume_choice choice;
    words >> file >> type >> choice.time;
    std::getline(words >> std::ws, choice.variable);
    auto const g = read_grid(*open_volume((std::filesystem::path(folder) / file).string(), choice));
    CHECK(name_of(g.header.type) == (type == "bit" ? "uint8" : type));
    int const most = type == "bit" ? 2 : 120;
    bool same = g.header.samples() == test::samples;
    for (std::size_t i = 0; same && i < test::samples; ++i)
      same = g.floats()[i] == static_cast<float>((i * 7 + choice.time) % 120 % static_cast<unsigned>(most));
    CHECK(same);
    std::vector<double> const even{1, 1.5, 2, 2.5, 3}, uneven{0, 1, 3, 4, 8};
    bool const is_image = file.ends_with(".vti") || file.ends_with(".vtkhdf") || file.ends_with(".hdf");
    CHECK(g.header.coordinates[0] == (is_image ? even : uneven));
  }
  CHECK(files > 20);
}

}  // namespace

TEST_CASE("files of other libraries", "[.written]") {
  auto const* const folder = std::getenv("SKEL_WRITTEN");  // NOLINT
  REQUIRE(folder != nullptr);
  check_all(folder);
}
