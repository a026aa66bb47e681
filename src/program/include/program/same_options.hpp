// The ranks of a job must agree on what they compute: `mpiexec -n 1 skel-x --size 10 : -n 1 skel-x --size 20`
// would give a mixture of both results.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "skel/context.hpp"

namespace skel::program {

/// Options that are not compared as texts.
struct special_options {
  std::vector<std::string> inputs;  ///< a file that every rank reads: its content is compared, not its name
  std::vector<std::string> may_differ;  ///< not compared: outputs, what concerns one rank only
};

/// Collective. Throws usage_error on every rank unless all ranks were given the same options, that is, the
/// same values after defaults and environment, and inputs of the same content. The error names the option and
/// the rank. An input that cannot be read is the usage_error `path: reason`. One message per rank if all is
/// well.
void require_same_options(context& ctx, CLI::App const& app, special_options const& special);

}  // namespace skel::program
