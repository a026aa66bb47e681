// Describes a skeleton call in words. Ranks compare its hash, and print the words if the hashes
// differ.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/format.hpp"
#include "skel/detail/erased.hpp"

namespace skel::detail {

class call_description {
 public:
  explicit call_description(std::string_view skeleton) { add("skeleton", skeleton); }

  /// Adds a property that must be the same on every rank.
  template <class Value>
  call_description& add(std::string_view name, Value const& value) {
    text_ += detail::format("{}\t{}\n", name, value);
    return *this;
  }
  /// Adds a property whose value would mean nothing to a reader.
  template <class Value>
  call_description& add_hidden(std::string_view name, Value const& value) {
    text_ += detail::format("{}\t#{}\n", name, value);
    return *this;
  }
  /// Adds type names as typeid returns them, separated by " -> " or a blank.
  call_description& add_types(std::string_view name, std::string_view mangled) {
    text_ += detail::format("{}\t@{}\n", name, mangled);
    return *this;
  }

  [[nodiscard]] std::string const& text() const { return text_; }
  [[nodiscard]] std::uint64_t hash() const;

 private:
  std::string text_;
};

/// Adds what can be seen of the values on which the results of a skeleton's work depend, for checkpoints.
/// `function` is the word for the user's function object.
inline void add_values(call_description& to, std::string_view function, user_work const& work) {
  if (auto const hash = work.contents({})) to.add_hidden("contents of the task list", *hash);
  if (auto const hash = work.members()) to.add_hidden(detail::format("members of the {}", function), *hash);
}

/// The name of a type as in the source; `name` is that of its type_info.
[[nodiscard]] std::string demangled(std::string const& name);

/// Whether two descriptions agree in all properties that both have.
[[nodiscard]] bool agree(std::string_view theirs, std::string_view ours);

/// Describes the difference between two descriptions: "tasks 11 instead of 10, schedule blocks
/// instead of guided".
[[nodiscard]] std::string difference(std::string_view theirs, std::string_view ours);

}  // namespace skel::detail
