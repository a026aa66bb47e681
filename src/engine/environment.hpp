// Checks SKEL_TRACE and context_options::tracing::file.
#pragma once

#include "skel/context.hpp"

namespace skel::detail {

/// Throws usage_error if options.trace.file is set and cannot be written. Called on the root,
/// before anything runs.
void check_trace_file(context_options const& options);

}  // namespace skel::detail
