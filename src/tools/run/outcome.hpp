// A command and how it ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "skel/hash.hpp"

namespace skel::commands {

struct command {
  std::uint64_t number = 0;  ///< in the list, from 0
  std::string line;
};

/// What identifies a command in a store.
[[nodiscard]] hash128 identity(std::string_view line);

/// How the process of a command ended, and what it took.
struct outcome {
  int exit_code = 0;
  int signal = 0;          ///< that ended it; 0: none
  bool late = false;       ///< it ran for longer than its time limit
  double began = 0;        ///< seconds since 1970
  double seconds = 0;      ///< wall time
  double user = 0;         ///< seconds of processors, with those of its children
  double system = 0;       ///< likewise, in the kernel
  std::uint64_t peak = 0;  ///< bytes of memory of its largest process
  std::string host{};
  int rank = 0;              ///< numbered at the beginning of the attempt
  std::int64_t written = 0;  ///< when its file of output was, nanoseconds since 1970; 0: it has none

  [[nodiscard]] bool failed() const { return exit_code != 0 || signal != 0 || late; }
  friend bool operator==(outcome const&, outcome const&) = default;
};

/// The text of the task_error of a command that failed: `exit code 3 after 0.010 s (...): ./model`.
[[nodiscard]] std::string failure_text(outcome const& how, std::string_view line);
/// Reads such a text, which is the way of a failed command's figures to the root. Nothing for another text.
[[nodiscard]] std::optional<outcome> outcome_of(std::string_view failure);

}  // namespace skel::commands
