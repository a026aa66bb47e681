// Navigates JSON of unknown origin; errors name file and key.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skel::model {

/// A value and its position. All errors are a usage_error `file: key: what, expected what`.
class json_reader {
 public:
  /// Parses arbitrary text. Returns the root.
  [[nodiscard]] static nlohmann::json parse(std::string_view text, std::string const& file);
  json_reader(nlohmann::json const& value, std::string file, std::string key = "")
      : value_(value), file_(std::move(file)), key_(std::move(key)) {}

  [[nodiscard]] bool has(char const* name) const { return value_.is_object() && value_.contains(name); }
  /// A required member.
  [[nodiscard]] json_reader operator[](char const* name) const;
  [[nodiscard]] std::vector<json_reader> items() const;                            ///< elements of an array
  [[nodiscard]] std::vector<std::pair<std::string, json_reader>> members() const;  ///< members of an object
  [[nodiscard]] double number(double least, double most) const;
  [[nodiscard]] std::vector<double> numbers(double least, double most) const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool flag() const;
  /// The member's number, or `otherwise` if it is missing.
  [[nodiscard]] double number_or(char const* name, double least, double most, double otherwise) const;
  [[nodiscard]] std::string text_or(char const* name, std::string otherwise = "") const;
  [[noreturn]] void fail(std::string const& what) const;

 private:
  nlohmann::json const& value_;
  std::string file_, key_;
};

}  // namespace skel::model
