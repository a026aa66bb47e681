// What a skeleton call is, in words: its hash tells ranks whether they make the same one, the words how not.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/format.hpp"

namespace skel::detail {

class call_description {
 public:
  explicit call_description(std::string_view skeleton) { add("skeleton", skeleton); }

  /// One thing that must be the same on every rank.
  template <class Value>
  call_description& add(std::string_view name, Value const& value) {
    text_ += detail::format("{}\t{}\n", name, value);
    return *this;
  }
  /// One whose value would tell a reader nothing.
  template <class Value>
  call_description& add_hidden(std::string_view name, Value const& value) {
    text_ += detail::format("{}\t#{}\n", name, value);
    return *this;
  }
  /// Names of types as typeid has them, with " -> " or a blank in between.
  call_description& add_types(std::string_view name, std::string_view mangled) {
    text_ += detail::format("{}\t@{}\n", name, mangled);
    return *this;
  }

  [[nodiscard]] std::string const& text() const { return text_; }
  [[nodiscard]] std::uint64_t hash() const;

 private:
  std::string text_;
};

/// What differs between two descriptions: "tasks 11 instead of 10, schedule blocks instead of guided".
[[nodiscard]] std::string difference(std::string_view theirs, std::string_view ours);

}  // namespace skel::detail
