// The run report as JSON. The keys and their order are a contract: docs/programs.md.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "skel/report.hpp"

namespace skel::observe {

inline constexpr int report_schema = 1;

struct report_field;
using report_object = std::vector<report_field>;  ///< in the order in which it is written

/// What a program adds to its report: a number, a text, a list or an object.
struct report_value {
  using list = std::vector<report_value>;
  std::variant<bool, std::int64_t, std::uint64_t, double, std::string, list, report_object> value;

  report_value(bool flag);
  report_value(std::int64_t number);
  report_value(std::uint64_t number);
  template <std::integral N>
  report_value(N number)
      : report_value(
            static_cast<std::conditional_t<std::is_signed_v<N>, std::int64_t, std::uint64_t>>(number)) {}
  report_value(double number);
  report_value(char const* text);
  report_value(std::string text);
  report_value(list items);
  report_value(report_object fields);
};

struct report_field {
  std::string key;  ///< with the unit in its name, e.g. "build_seconds"
  report_value value;
};

/// What the program knows and the skeleton does not.
struct report_extra {
  std::string program;                     ///< "skel-raytrace"
  std::optional<std::string> result_xxh3;  ///< xxh3_hex of the result's bytes
  report_object fields;                    ///< e.g. {{"rays", 1234}, {"size", {...}}}
};

/// Fields that were not measured (and numbers that are not finite) are absent. A key of `extra.fields` that
/// the report has already is a std::logic_error.
std::string report_to_json(report const& run, report_extra const& extra);

}  // namespace skel::observe
