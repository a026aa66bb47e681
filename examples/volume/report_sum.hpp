// Sums the reports of a job with several calls.
#pragma once

#include "skel/report.hpp"

namespace volume {

/// Adds the next call's report. Rows per rank are those of the last call. Failed tasks are numbered on
/// from the tasks of the earlier calls.
void add(skel::report& total, skel::report const& next);

}  // namespace volume
