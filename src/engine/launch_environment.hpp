// What the environment says about who has started this process.
#pragma once

#include <optional>
#include <string>

namespace skel::detail {

struct launch {
  char const* launcher;
  long processes;     ///< of the job step; 2 stands for "several" where only a rank is known
  bool exact = true;  ///< whether that is their number
  /// "3 processes", "several processes"
  [[nodiscard]] std::string number() const;
};

/// Nothing where no launcher of MPI programs has left a trace.
[[nodiscard]] std::optional<launch> launched_by();

}  // namespace skel::detail
