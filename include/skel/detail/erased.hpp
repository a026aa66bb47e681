// Bases of the interfaces through which compiled code uses the user's types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace skel::detail {

/// An object of a type that only its skeleton's adapter knows.
struct erased {
  erased() = default;
  erased(erased const&) = delete;
  erased& operator=(erased const&) = delete;
  virtual ~erased() = default;
};

/// The user's code of one call. The names are mangled; they and the hashes distinguish calls.
class user_work : public erased {
 public:
  [[nodiscard]] virtual std::string types() const = 0;
  [[nodiscard]] virtual std::string function() const = 0;
  /// A hash of a replicated list or problem, if it is to be compared; see list_contents().
  [[nodiscard]] virtual std::optional<std::uint64_t> contents(std::optional<bool> /*check*/) const {
    return {};
  }
  /// A hash of the function object's members, if they can be seen; see members_of().
  [[nodiscard]] virtual std::optional<std::uint64_t> members() const { return {}; }
};

}  // namespace skel::detail
