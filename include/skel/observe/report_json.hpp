// The run report as JSON. The keys and their order are a contract: docs/reference/report.md.
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

/// The value of the key `schema`; it changes when keys change their meaning.
inline constexpr int report_schema = 1;

struct report_field;
using report_object = std::vector<report_field>;  ///< in the order in which it is written

/// A value that a program adds to its report: a number, a text, a list or an object.
struct report_value {
  /// A JSON array.
  using list = std::vector<report_value>;
  /// The value.
  std::variant<bool, std::int64_t, std::uint64_t, double, std::string, list, report_object> value;

  /// Values convert to it implicitly, including those of the constructors below.
  report_value(bool flag);
  /// A number.
  report_value(std::int64_t number);
  /// A number.
  report_value(std::uint64_t number);
  /// A number.
  template <std::integral N>
  report_value(N number)
      : report_value(
            static_cast<std::conditional_t<std::is_signed_v<N>, std::int64_t, std::uint64_t>>(number)) {}
  /// A number; absent from the report if it is not finite.
  report_value(double number);
  /// A text.
  report_value(char const* text);
  /// A text.
  report_value(std::string text);
  /// A list.
  report_value(list items);
  /// An object.
  report_value(report_object fields);
};

/// One key of an object and its value.
struct report_field {
  std::string key;     ///< with the unit in its name, e.g. "build_seconds"
  report_value value;  ///< what the program measured
};

/// A program's additions to the report of its run.
struct report_extra {
  std::string program;                     ///< "skel-raytrace"
  std::optional<std::string> result_xxh3;  ///< xxh3_hex of the result's bytes
  report_object fields;                    ///< e.g. {{"rays", 1234}, {"size", {...}}}
};

/// The report as JSON text. Fields that were not measured and numbers that are not finite are
/// absent. Throws std::logic_error for a key in `extra.fields` that the report already has.
std::string report_to_json(report const& run, report_extra const& extra);

}  // namespace skel::observe
