// Deliberate faults: what a broken engine, call or role would send. They show what the storm notices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "world.hpp"

namespace storm {

struct fault {
  std::string name;
  /// Makes the fault for one job: decides about each packet, which it may change.
  std::function<packet_filter()> make;
};

/// All of them; their numbers begin at 1.
[[nodiscard]] std::vector<fault> const& faults();

}  // namespace storm
