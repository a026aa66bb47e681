// The report of a job that made several calls.
#pragma once

#include "skel/report.hpp"

namespace skel::volume {

/// Adds the next call's; rows per rank are those of the last.
void add(report& total, report const& next);

}  // namespace skel::volume
