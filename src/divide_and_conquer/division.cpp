#include <array>
#include <string>
#include <string_view>

#include "skel/divide_and_conquer.hpp"
#include "skel/error.hpp"

namespace skel {

namespace {
constexpr std::array<char const*, 4> names{"hypercube", "tree", "embarrassing", "distributed"};
}  // namespace

any_division::any_division(std::string_view name) : kind_(kind::hypercube) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name != names.at(i)) continue;
    kind_ = static_cast<kind>(i);
    return;
  }
  throw usage_error("unknown kind of divide-and-conquer \"" + std::string(name) +
                    "\"; known: hypercube, tree, embarrassing, distributed");
}

std::string to_string(any_division const& division) {
  return names.at(static_cast<std::size_t>(division.which()));
}

}  // namespace skel
