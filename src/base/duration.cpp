#include "duration.hpp"

#include <array>
#include <cmath>

#include "format.hpp"
#include "skel/error.hpp"
#include "text.hpp"

namespace skel::detail {

namespace {

struct unit {
  std::string_view name;
  double seconds;
};
constexpr std::array<unit, 6> units = {
    {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60}, {"h", 3600}}};

}  // namespace

std::chrono::duration<double> parse_duration(std::string_view text) {
  auto rest = text;
  auto const number = take_number<double>(rest);
  bool const fixed = text.find_first_of("eE") == std::string_view::npos;
  if (number && fixed && std::isfinite(*number) && *number > 0)
    for (auto const& [name, seconds] : units)
      if (rest == name) return std::chrono::duration<double>(*number * seconds);
  throw usage_error(detail::format(
      "\"{}\" is not a duration; expected for example 90, 90s, 500ms, 20us, 1.5m or 2h", text));
}

}  // namespace skel::detail
