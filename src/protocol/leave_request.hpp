// What a rank and the root say to each other before the rank leaves the job in the middle of a call.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

namespace skel::role {

/// A rank may change its mind before the answer comes. Its requests are therefore numbered: odd ones are to
/// leave, even ones to stay after all, and the answer names the one that it grants.
[[nodiscard]] constexpr bool is_to_leave(std::uint64_t number) { return number % 2 == 1; }

/// The requests of this rank in this call. A regular value.
class leave_request {
 public:
  /// Returns the number of a new request; nothing if the latest one says the same.
  [[nodiscard]] std::optional<std::uint64_t> make(bool to_leave) {
    if (is_to_leave(latest_) == to_leave) return std::nullopt;
    return ++latest_;
  }
  /// The root grants this one. 0: none of them any more.
  void grant(std::uint64_t number) { granted_ = number; }
  [[nodiscard]] bool granted() const { return is_to_leave(latest_) && granted_ == latest_; }
  /// The number of the latest one, if it may have been lost.
  [[nodiscard]] std::optional<std::uint64_t> unanswered() const {
    return latest_ > granted_ ? std::optional(latest_) : std::nullopt;
  }
  friend bool operator==(leave_request const&, leave_request const&) = default;
  auto fields() const { return std::tie(latest_, granted_); }

 private:
  std::uint64_t latest_ = 0;
  std::uint64_t granted_ = 0;
};

}  // namespace skel::role
