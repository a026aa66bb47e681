#include "rank_stats.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

void pack_stats(rank_stats const& stats, std::vector<std::byte>& out) {
  auto const& r = stats.row;
  bytes::put_text(out, r.host);
  bytes::put_raw(out, r.busy_seconds);
  bytes::put_raw(out, r.idle_seconds);
  bytes::put_raw(out, r.communication_seconds);
  for (auto const n :
       {r.tasks, r.messages_sent, r.bytes_sent, r.peak_memory_bytes, static_cast<std::uint64_t>(r.threads)})
    bytes::put_varint(out, n);
  bytes::put_raw(out, stats.trace.offset_seconds);
  bytes::put_varint(out, stats.trace.dropped);
  bytes::put_varint(out, stats.trace.spans.size());
  for (auto const& s : stats.trace.spans) bytes::put_raw(out, s);
}

rank_stats unpack_stats(int from, std::span<std::byte const>& bytes) {
  rank_stats stats;
  auto& r = stats.row;
  r.rank = from;
  r.host = bytes::get_text(bytes);
  r.busy_seconds = bytes::get_raw<double>(bytes);
  r.idle_seconds = bytes::get_raw<double>(bytes);
  r.communication_seconds = bytes::get_raw<double>(bytes);
  r.tasks = bytes::get_varint(bytes);
  r.messages_sent = bytes::get_varint(bytes);
  r.bytes_sent = bytes::get_varint(bytes);
  r.peak_memory_bytes = bytes::get_varint(bytes);
  r.threads = static_cast<int>(bytes::get_varint(bytes));
  stats.trace.rank = from;
  stats.trace.host = r.host;
  stats.trace.offset_seconds = bytes::get_raw<double>(bytes);
  stats.trace.dropped = bytes::get_varint(bytes);
  auto const n = bytes::get_varint(bytes);
  if (n > bytes.size() / sizeof(observe::trace_span)) throw protocol_error("message ends inside a trace");
  for (std::uint64_t i = 0; i < n; ++i)
    stats.trace.spans.push_back(bytes::get_raw<observe::trace_span>(bytes));
  return stats;
}

std::uint64_t peak_memory() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void add_up(report& r) {
  double busy = 0;
  int threads = 0;
  for (auto const& p : r.per_rank) {
    busy += p.busy_seconds;
    threads += p.threads;
    r.messages += p.messages_sent;
    r.bytes += p.bytes_sent;
  }
  double const capacity = r.seconds * threads;
  if (capacity > 0) r.busy_share = std::min(1.0, busy / capacity);
}

}  // namespace skel::detail
