// One rank's row of a report, and its trace, as bytes on the way to the root.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "skel/observe/trace.hpp"
#include "skel/report.hpp"

namespace skel::detail {

struct rank_stats {
  rank_report row;
  observe::rank_trace trace;
};

void pack_stats(rank_stats const& stats, std::vector<std::byte>& out);
/// Throws protocol_error if the bytes do not hold one.
[[nodiscard]] rank_stats unpack_stats(int from, std::span<std::byte const>& bytes);
/// Peak resident set of this process in bytes; 0: not known.
[[nodiscard]] std::uint64_t peak_memory();
/// Sums the rows: messages, bytes, busy_share.
void add_up(report& r);

}  // namespace skel::detail
