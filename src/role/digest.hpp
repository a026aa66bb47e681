// A hash of a role's state, for counting the reachable states of a protocol.
#pragma once

#include <cstdint>

#include "skel/detail/task_range.hpp"

namespace skel::role {

class digest {
 public:
  digest& add(std::uint64_t x) {
    value_ = (value_ ^ x) * 0x9e3779b97f4a7c15U;
    value_ ^= value_ >> 29;
    return *this;
  }
  template <class Ranges>
    requires requires(Ranges const& ranges) { ranges.begin()->stride; }
  digest& add(Ranges const& ranges) {
    for (auto const& r : ranges) add(r.first).add(r.count).add(r.stride);
    return add(ranges.size());
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace skel::role
