// The report of a job that made several calls.
#pragma once

#include "skel/report.hpp"

namespace volume {

/// Adds the next call's; rows per rank are those of the last.
void add(skel::report& total, skel::report const& next);

}  // namespace volume
