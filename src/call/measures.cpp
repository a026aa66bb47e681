#include "measures.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {

// Peak resident set of this process in bytes; 0: not known.
std::uint64_t peak_memory() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

call_measures::call_measures(call_entry const& entry, unsigned threads, bool traced)
    : entry_(entry),
      engine_(context_access::engine_of(entry.ctx)),
      began_(engine_.now()),
      clocks_(threads),
      trace_(traced ? std::make_unique<observe::trace_buffer>() : nullptr) {}

void call_measures::start() {
  base_messages_ = engine_.wires().messages_sent();
  base_bytes_ = engine_.wires().bytes_sent();
  if (trace_) engine_.clocks().measure_once();
}

std::uint64_t call_measures::tasks_run() const {
  return std::accumulate(clocks_.begin(), clocks_.end(), std::uint64_t{0},
                         [](std::uint64_t n, auto const& t) { return n + t.tasks; });
}

void call_measures::lost(int rank, unsigned thread) {
  if (!entry_.ctx.is_root() || !traced_losses_.insert(rank).second) return;
  double const t = span_begin();
  span(thread, observe::activity::loss, t, t, static_cast<std::uint64_t>(rank), 0);
}

call_measures::rank_stats call_measures::own(unsigned threads, unsigned compute_threads) {
  rank_stats s;
  auto& r = s.row;
  r.rank = entry_.ctx.rank();
  r.host = engine_.place.host;
  r.threads = computes_ ? static_cast<int>(threads) : 0;
  r.tasks = tasks_run();
  double const elapsed = engine_.now() - began_;
  double own_idle = elapsed * (threads - std::min(threads, compute_threads));
  for (std::size_t i = 0; i < clocks_.size(); ++i) {
    auto const& t = clocks_[i];
    r.busy_seconds += t.busy;
    r.idle_seconds += t.idle + (t.idle_since >= 0 ? engine_.now() - t.idle_since : 0);
    if (i >= compute_threads) own_idle -= t.busy;  // a thread of the work's own is either busy or idle
  }
  r.idle_seconds += std::max(0.0, own_idle);
  r.communication_seconds = std::max(0.0, threads * elapsed - r.busy_seconds - r.idle_seconds);
  r.messages_sent = engine_.wires().messages_sent() - base_messages_;
  r.bytes_sent = engine_.wires().bytes_sent() - base_bytes_;
  if (!engine_.owns_time()) r.peak_memory_bytes = peak_memory();
  if (trace_) {
    s.trace.rank = r.rank;
    s.trace.host = r.host;
    s.trace.offset_seconds = began_;
    s.trace.spans = trace_->take(s.trace.dropped);
  }
  return s;
}

void call_measures::pack(unsigned threads, unsigned compute_threads, std::vector<std::byte>& out) {
  auto const stats = own(threads, compute_threads);
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

void call_measures::unpack(int from, std::span<std::byte const>& in) {
  rank_stats stats;
  auto& r = stats.row;
  r.rank = from;
  r.host = bytes::get_text(in);
  r.busy_seconds = bytes::get_raw<double>(in);
  r.idle_seconds = bytes::get_raw<double>(in);
  r.communication_seconds = bytes::get_raw<double>(in);
  r.tasks = bytes::get_varint(in);
  r.messages_sent = bytes::get_varint(in);
  r.bytes_sent = bytes::get_varint(in);
  r.peak_memory_bytes = bytes::get_varint(in);
  r.threads = static_cast<int>(bytes::get_varint(in));
  stats.trace.rank = from;
  stats.trace.host = r.host;
  stats.trace.offset_seconds = bytes::get_raw<double>(in);
  stats.trace.dropped = bytes::get_varint(in);
  auto const n = bytes::get_varint(in);
  if (n > in.size() / sizeof(observe::trace_span)) throw protocol_error("message ends inside a trace");
  for (std::uint64_t i = 0; i < n; ++i) stats.trace.spans.push_back(bytes::get_raw<observe::trace_span>(in));
  add(std::move(stats));
}

void call_measures::add(rank_stats stats) {
  if (std::any_of(stats_.begin(), stats_.end(), [&](auto const& s) { return s.row.rank == stats.row.rank; }))
    return;  // repeated
  stats_.push_back(std::move(stats));
}

report call_measures::rows(unsigned threads, unsigned compute_threads) {
  report r;
  r.ranks = entry_.ranks.size();
  r.threads_per_rank = static_cast<int>(threads);
  r.seconds = seconds();
  r.attempt = engine_.job.attempt;
  r.spares = engine_.wires().carrier().spares();
  r.losses = engine_.losses();
  add(own(threads, compute_threads));
  std::sort(stats_.begin(), stats_.end(),
            [](auto const& a, auto const& b) { return a.row.rank < b.row.rank; });
  for (auto const& s : stats_) r.per_rank.push_back(s.row);
  return r;
}

void call_measures::complete(report& r) const {
  auto const earlier = std::stable_partition(r.lost_ranks.begin(), r.lost_ranks.end(),
                                             [&](int rank) { return !lost_before_.contains(rank); });
  r.lost_before.assign(earlier, r.lost_ranks.end());
  r.lost_ranks.erase(earlier, r.lost_ranks.end());
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

// The spans are on the root's clock. A rank whose clock was not measured, since it was lost, seems to have
// begun with the root.
void call_measures::end_trace(std::unique_lock<std::mutex>& lock, bool broken, std::string const& label) {
  if (!trace_) return;
  if (!broken) engine_.measure_clocks(lock, entry_.key.number);
  if (!entry_.ctx.is_root()) return;
  for (auto& [row, trace] : stats_) {
    trace.label = label + " " + std::to_string(entry_.key.number);
    int const rank = entry_.ranks.to_wire(trace.rank);
    if (engine_.clocks().knows(rank))
      for (auto& s : trace.spans)
        for (double* const t : {&s.begin, &s.end})
          *t = engine_.clocks().root_time(rank, trace.offset_seconds + *t) - began_;
    trace.offset_seconds = began_;
    engine_.observed.traces.push_back(std::move(trace));
  }
}

}  // namespace skel::detail
