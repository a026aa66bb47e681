// What the environment of this process says. context_options::from_environment() reads its variables.
#pragma once

#include <string>

#include "skel/context.hpp"

namespace skel::detail {

/// The system's name of this host; "unknown" if the system does not say.
[[nodiscard]] std::string system_host_name();

/// Throws usage_error if options.trace.file is set and cannot be written. Called on the root,
/// before anything runs.
void check_trace_file(context_options const& options);

}  // namespace skel::detail
