// The ranks of a job must agree on the computation: `mpiexec -n 1 skel-x --size 10 : -n 1 skel-x
// --size 20` would mix two results.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "skel/context.hpp"

namespace skel::program {

/// Options that are not compared as text.
struct special_options {
  std::vector<std::string>
      inputs;  ///< files that every rank reads; their contents are compared, not their names
  std::vector<std::string> may_differ;  ///< not compared: outputs and options of a single rank
};

/// Collective. Throws `usage_error` on every rank if the ranks differ in an option's value (after
/// defaults and environment) or in the content of an input. The error names the option and the
/// rank. An input that cannot be read is reported as `path: reason`. If all ranks agree, this costs
/// one message per rank.
void require_same_options(context& ctx, CLI::App const& app, special_options const& special);

}  // namespace skel::program
