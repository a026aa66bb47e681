// Measurements and progress of a skeleton call: per rank, collected on the root.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <numeric>
#include <utility>

#include "collective_run.hpp"

namespace skel::detail {

void collective_run::span(unsigned thread, observe::activity what, double begin, double end,
                          std::uint64_t first, std::uint64_t count) {
  if (trace_) trace_->add({begin - start_, end - start_, first, count, thread, what});
}

std::uint64_t collective_run::tasks_run() const {
  return std::accumulate(clocks_.begin(), clocks_.end(), std::uint64_t{0},
                         [](std::uint64_t n, auto const& t) { return n + t.tasks; });
}

rank_stats collective_run::own_stats() {
  rank_stats s;
  auto& r = s.row;
  r.rank = rank_;
  r.host = engine_.place.host;
  r.threads = computes_ ? static_cast<int>(threads_) : 0;
  r.tasks = tasks_run();
  double const elapsed = now() - start_;
  double own_idle = elapsed * (threads_ - std::min(threads_, compute_threads_));
  for (std::size_t i = 0; i < clocks_.size(); ++i) {
    auto const& t = clocks_[i];
    r.busy_seconds += t.busy;
    r.idle_seconds += t.idle + (t.idle_since >= 0 ? now() - t.idle_since : 0);
    if (i >= compute_threads_) own_idle -= t.busy;  // a thread of the work's own is either busy or idle
  }
  r.idle_seconds += std::max(0.0, own_idle);
  r.communication_seconds = std::max(0.0, threads_ * elapsed - r.busy_seconds - r.idle_seconds);
  r.messages_sent = engine_.wires().messages_sent() - base_messages_;
  r.bytes_sent = engine_.wires().bytes_sent() - base_bytes_;
  if (!engine_.owns_time()) r.peak_memory_bytes = peak_memory();
  if (trace_) {
    s.trace.rank = rank_;
    s.trace.host = r.host;
    s.trace.offset_seconds = start_;
    s.trace.spans = trace_->take(s.trace.dropped);
  }
  return s;
}

void collective_run::add_stats(rank_stats stats) {
  if (std::any_of(stats_.begin(), stats_.end(), [&](auto const& s) { return s.row.rank == stats.row.rank; }))
    return;  // repeated
  stats_.push_back(std::move(stats));
}

report collective_run::make_report() {
  report r;
  r.ranks = team_.size();
  r.threads_per_rank = static_cast<int>(threads_);
  r.seconds = now() - start_;
  add_stats(own_stats());
  std::sort(stats_.begin(), stats_.end(),
            [](auto const& a, auto const& b) { return a.row.rank < b.row.rank; });
  for (auto const& s : stats_) r.per_rank.push_back(s.row);
  if (outcome_) {
    r.tasks = outcome_->tasks;
    r.tasks_handed_out_again = outcome_->handed_out_again;
    r.stopped_early = outcome_->how == role::outcome::status::stopped_early;
  }
  describe(r);
  auto const earlier = std::stable_partition(r.lost_ranks.begin(), r.lost_ranks.end(),
                                             [&](int rank) { return !lost_before_.contains(rank); });
  r.lost_before.assign(earlier, r.lost_ranks.end());
  r.lost_ranks.erase(earlier, r.lost_ranks.end());
  add_up(r);
  return r;
}

// The spans of all ranks on the root's clock. A rank whose clock was not measured, since it was lost,
// seems to have begun with the root.
void collective_run::keep_traces() {
  for (auto& [row, trace] : stats_) {
    trace.label = options_.label + " " + std::to_string(key_.number);
    int const rank = team_.to_wire(trace.rank);
    if (engine_.clocks().knows(rank))
      for (auto& s : trace.spans)
        for (double* const t : {&s.begin, &s.end})
          *t = engine_.clocks().root_time(rank, trace.offset_seconds + *t) - start_;
    trace.offset_seconds = start_;
    engine_.traces.push_back(std::move(trace));
  }
}

void collective_run::show_progress(bool last) {
  observe::progress_state s;
  s.seconds = now() - start_;
  s.ranks = team_.size();
  if (!engine_.owns_time()) s.now = std::time(nullptr);
  describe(s, last);
  constexpr double seconds_between_calls = 1;
  if (engine_.observer && (last || !observer_called_ || now() - *observer_called_ >= seconds_between_calls)) {
    observer_called_ = now();
    engine_.observer(options_.label, s);
  }
  if (last)
    display_->finish(s);
  else
    display_->update(s);
}

void collective_run::say_state(std::string const& why) const {
  std::fprintf(stderr, "skel: %s: %s\n", why.c_str(), state().c_str());
}

}  // namespace skel::detail
