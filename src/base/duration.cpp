#include "duration.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "format.hpp"
#include "skel/error.hpp"

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
  double number = 0;
  auto const [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (code == std::errc{} && std::isfinite(number) && number > 0) {
    auto const suffix = text.substr(static_cast<std::size_t>(end - text.data()));
    for (auto const& [name, seconds] : units) {
      if (suffix == name) return std::chrono::duration<double>(number * seconds);
    }
  }
  throw usage_error(detail::format(
      "\"{}\" is not a duration; expected for example 90, 90s, 500ms, 20us, 1.5m or 2h", text));
}

}  // namespace skel::detail
