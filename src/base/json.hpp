// JSON of unknown origin. Errors name the file and the key.
#pragma once

#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace skel::detail {

/// A value and its position. Errors are a usage_error `file: key: expected X, found Y`.
class json_reader {
 public:
  /// Throws usage_error `file:line: not JSON: why`, also for a repeated key (nlohmann's parser keeps the
  /// last value) and if values are nested more than 100 deep (its dump() recurses).
  [[nodiscard]] static nlohmann::json parse(std::string_view text, std::string const& file);
  json_reader(nlohmann::json const& value, std::string file, std::string key = "")
      : value_(&value), file_(std::move(file)), key_(std::move(key)) {}

  [[nodiscard]] nlohmann::json const& value() const { return *value_; }
  [[nodiscard]] bool has(char const* name) const { return value_->is_object() && value_->contains(name); }
  /// A required member.
  [[nodiscard]] json_reader operator[](char const* name) const;
  /// The elements of a list with `least` to `most` of them.
  [[nodiscard]] std::vector<json_reader> items(
      std::string_view expected = "a list", std::size_t least = 0,
      std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  [[nodiscard]] std::vector<std::pair<std::string, json_reader>> members() const;  ///< of an object
  /// Refuses members with other keys.
  void only_keys(std::span<std::string_view const> known) const;
  void only_keys(std::initializer_list<std::string_view> known) const {
    only_keys(std::span(known.begin(), known.size()));
  }
  /// `expected` describes the number in errors; empty: its range does.
  [[nodiscard]] double number(double least, double most, std::string_view expected = "") const;
  /// 20.0 is a whole number, too. `most` is at most 2^53.
  template <class Number>
  [[nodiscard]] Number whole(std::type_identity_t<Number> least, std::type_identity_t<Number> most,
                             std::string_view expected = "") const {
    return static_cast<Number>(whole_number(static_cast<double>(least), static_cast<double>(most), expected));
  }
  [[nodiscard]] std::vector<double> numbers(double least, double most, std::string_view expected = "") const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool flag() const;
  /// The member's value, or `otherwise` if it is missing.
  [[nodiscard]] double number_or(char const* name, double least, double most, double otherwise) const;
  [[nodiscard]] std::string text_or(char const* name, std::string otherwise = "") const;

  /// Throws `expected X, found Y` unless the condition holds.
  void expect(bool condition, std::string_view expected) const;
  [[noreturn]] void fail(std::string const& what) const;

 private:
  [[nodiscard]] double whole_number(double least, double most, std::string_view expected) const;

  nlohmann::json const* value_;
  std::string file_, key_;
};

}  // namespace skel::detail
