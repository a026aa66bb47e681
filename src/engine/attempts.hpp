// Runs the body of a program, again on other ranks whenever the root is lost or spare ranks stand in.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "run_body.hpp"
#include "views.hpp"

namespace skel::detail {

/// How a job ends on this rank.
struct attempts_end {
  int code = 0;
  std::shared_ptr<engine> last{};  ///< of the last attempt
  bool left_out = false;           ///< the other ranks have gone on without this one
  bool retired = false;            ///< this rank was asked to leave, and has handed back what it had
  bool abrupt = false;             ///< of a rank that was not needed: it must not wait for the others
};

/// Runs the body on all ranks but the spare ones, and after each loss of the root again on those that are
/// left, and spare ones in place of lost ones, over an engine that `make` returns. `program`: for the lines
/// that are printed. `may_leave`: whether a process may end before the others.
[[nodiscard]] attempts_end run_attempts(
    std::shared_ptr<job_wires> const& job,
    std::function<std::shared_ptr<engine>(std::unique_ptr<transport::transport>)> const& make,
    std::string const& program, function_reference<int(context&)> body, bool may_leave = true);

}  // namespace skel::detail
