// What a farm measures: per rank, packed for the root, put together there.
#include <sys/resource.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "farm_run.hpp"
#include "skel/protocol/bytes.hpp"

namespace skel {

std::vector<double> relative_power(report const& earlier) {
  std::vector<double> power;
  for (auto const& r : earlier.per_rank) {
    double const used = r.busy_seconds;
    if (r.tasks == 0 || used <= 0) return {};
    power.push_back(static_cast<double>(r.tasks) / used * r.threads);
  }
  if (power.empty()) return power;
  double const slowest = *std::min_element(power.begin(), power.end());
  for (double& p : power) p /= slowest;
  return power;
}

}  // namespace skel

namespace skel::detail {

std::uint64_t hash_text(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

void farm_run::span(unsigned thread, observe::activity what, double begin, double end, std::uint64_t first,
                    std::uint64_t count) {
  if (trace_) trace_->add({begin - start_, end - start_, first, count, thread, what});
}

rank_report farm_run::own_stats() const {
  rank_report r;
  r.rank = rank_;
  r.host = engine_.host();
  r.threads = computes_ ? static_cast<int>(threads_) : 0;
  for (auto const& t : state_) {
    r.tasks += t.tasks;
    r.busy_seconds += t.busy;
    r.idle_seconds += t.idle;
  }
  r.communication_seconds = std::max(0.0, threads_ * (now() - start_) - r.busy_seconds - r.idle_seconds);
  r.messages_sent = engine_.messages_sent() - base_messages_;
  r.bytes_sent = engine_.bytes_sent() - base_bytes_;
  rusage usage{};
  if (!engine_.owns_time() && getrusage(RUSAGE_SELF, &usage) == 0)
    r.peak_memory_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  return r;
}

std::vector<std::byte> farm_run::packed_stats() {
  std::vector<std::byte> out;
  auto const r = own_stats();
  protocol::put_text(out, r.host);
  protocol::put_raw(out, r.busy_seconds);
  protocol::put_raw(out, r.idle_seconds);
  protocol::put_raw(out, r.communication_seconds);
  for (auto const n :
       {r.tasks, r.messages_sent, r.bytes_sent, r.peak_memory_bytes, static_cast<std::uint64_t>(r.threads)})
    protocol::put_varint(out, n);
  std::uint64_t dropped = 0;
  auto const spans = trace_ ? trace_->take(dropped) : std::vector<observe::trace_span>{};
  protocol::put_varint(out, dropped);
  protocol::put_varint(out, spans.size());
  for (auto const& s : spans) protocol::put_raw(out, s);
  return out;
}

void farm_run::unpack_stats(int from, std::span<std::byte const> bytes) {
  rank_report r;
  r.rank = from;
  r.host = protocol::get_text(bytes);
  r.busy_seconds = protocol::get_raw<double>(bytes);
  r.idle_seconds = protocol::get_raw<double>(bytes);
  r.communication_seconds = protocol::get_raw<double>(bytes);
  r.tasks = protocol::get_varint(bytes);
  r.messages_sent = protocol::get_varint(bytes);
  r.bytes_sent = protocol::get_varint(bytes);
  r.peak_memory_bytes = protocol::get_varint(bytes);
  r.threads = static_cast<int>(protocol::get_varint(bytes));
  observe::rank_trace trace;
  trace.rank = from;
  trace.host = r.host;
  trace.dropped = protocol::get_varint(bytes);
  auto const n = protocol::get_varint(bytes);
  if (n > bytes.size() / sizeof(observe::trace_span))
    throw std::runtime_error("a trace shorter than it says");
  for (std::uint64_t i = 0; i < n; ++i) trace.spans.push_back(protocol::get_raw<observe::trace_span>(bytes));
  if (std::any_of(stats_.begin(), stats_.end(), [&](auto const& s) { return s.rank == from; }))
    return;  // said twice
  stats_.push_back(std::move(r));
  if (trace_) remote_traces_.push_back(std::move(trace));
}

report farm_run::make_report() {
  report r;
  r.skeleton = "farm";
  r.schedule = to_string(policy_);
  r.results = to_string(options_.results);
  r.ranks = engine_.size();
  r.threads_per_rank = static_cast<int>(threads_);
  r.seconds = now() - start_;
  r.per_rank = std::exchange(stats_, {});
  r.per_rank.push_back(own_stats());
  std::sort(r.per_rank.begin(), r.per_rank.end(),
            [](auto const& a, auto const& b) { return a.rank < b.rank; });
  if (outcome_) {
    r.tasks = outcome_->tasks;
    r.tasks_handed_out_again = outcome_->handed_out_again;
    r.stopped_early = outcome_->how == protocol::outcome::status::stopped_early;
  }
  if (ledger_) r.lost_ranks = ledger_->lost_ranks();
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
  if (trace_ && is_root()) {
    observe::rank_trace own;
    own.rank = rank_;
    own.host = engine_.host();
    own.spans = trace_->take(own.dropped);
    remote_traces_.push_back(std::move(own));
    for (auto& t : remote_traces_) {
      t.label = (options_.label.empty() ? "farm" : options_.label) + " " + std::to_string(key_.number);
      t.offset_seconds = start_;
      engine_.traces.push_back(std::move(t));
    }
  }
  return r;
}

report run_farm(context& ctx, farm_work& work, farm_policy const& policy, farm_options const& options) {
  farm_run run(ctx, work, policy, options);
  return run.execute();
}

}  // namespace skel::detail
