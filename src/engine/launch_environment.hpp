// Detects from the environment which launcher started this process.
#pragma once

#include <optional>
#include <string>

namespace skel::detail {

struct launch {
  char const* launcher;
  long processes;     ///< in the job step; 2 means "several" if only the rank is known
  bool exact = true;  ///< whether `processes` is exact
  /// "3 processes", "several processes"
  [[nodiscard]] std::string number() const;
};

/// Empty if there is no sign of an MPI launcher.
[[nodiscard]] std::optional<launch> launched_by();

}  // namespace skel::detail
