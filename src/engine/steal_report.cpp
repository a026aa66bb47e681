// What a ring_steal call measures and shows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

#include "steal_run.hpp"

namespace skel::detail {

void steal_run::span(unsigned thread, observe::activity what, double begin, double end, std::uint64_t count) {
  if (trace_) trace_->add({begin - start_, end - start_, 0, count, thread, what});
}

std::uint64_t steal_run::own_tasks() const {
  return std::accumulate(state_.begin(), state_.end(), std::uint64_t{0},
                         [](std::uint64_t n, auto const& t) { return n + t.tasks; });
}

rank_stats steal_run::own_stats() {
  rank_stats s;
  auto& r = s.row;
  r.rank = rank_;
  r.host = engine_.host();
  r.threads = static_cast<int>(threads_);
  r.tasks = own_tasks();
  for (auto const& t : state_) {
    r.busy_seconds += t.busy;
    r.idle_seconds += t.idle;
  }
  r.communication_seconds = std::max(0.0, threads_ * (now() - start_) - r.busy_seconds - r.idle_seconds);
  r.messages_sent = engine_.messages_sent() - base_messages_;
  r.bytes_sent = engine_.bytes_sent() - base_bytes_;
  if (!engine_.owns_time()) r.peak_memory_bytes = peak_memory();
  if (trace_) {
    s.trace.rank = rank_;
    s.trace.host = r.host;
    s.trace.spans = trace_->take(s.trace.dropped);
  }
  return s;
}

report steal_run::make_report() {
  report r;
  r.skeleton = "ring_steal";
  r.schedule = fmt::format("ring:take={}{}", options_.take == steal_size::one ? "one" : "half",
                           options_.order == ring_order::successors     ? ",order=successors"
                           : options_.order == ring_order::predecessors ? ",order=predecessors"
                                                                        : "");
  r.results = "merged";
  r.ranks = engine_.size();
  r.threads_per_rank = static_cast<int>(threads_);
  r.seconds = now() - start_;
  stats_.push_back(own_stats());
  std::sort(stats_.begin(), stats_.end(),
            [](auto const& a, auto const& b) { return a.row.rank < b.row.rank; });
  for (auto& s : stats_) {
    r.per_rank.push_back(s.row);
    if (!trace_ || !is_root()) continue;
    s.trace.label =
        (options_.label.empty() ? "ring_steal" : options_.label) + " " + std::to_string(key_.number);
    s.trace.offset_seconds = start_;
    engine_.traces.push_back(std::move(s.trace));
  }
  if (outcome_) {
    r.tasks = outcome_->tasks;
    r.stopped_early = outcome_->how == protocol::outcome::status::stopped_early;
  }
  r.steals = steals_ + role_.steals();
  r.tasks_handed_out_again = taken_back_ + role_.taken_back();
  if (roll_) r.lost_ranks = roll_->lost_ranks();
  add_up(r);
  return r;
}

void steal_run::show_progress(bool last) {
  observe::progress_state s;
  s.done = own_tasks() + std::accumulate(tasks_heard_.begin(), tasks_heard_.end(), std::uint64_t{0});
  if (last && outcome_) s.done = outcome_->tasks;
  s.seconds = now() - start_;
  s.ranks = engine_.size();
  s.lost_ranks = roll_ ? static_cast<int>(roll_->lost_ranks().size()) : 0;
  if (last)
    display_->finish(s);
  else
    display_->update(s);
}

std::string steal_run::state() const {
  std::string text = fmt::format("rank {}: ring_steal {} (context {}): {} tasks run, {} debts, {} loans",
                                 rank_, key_.number, key_.context, own_tasks(), role_.debts(), role_.loans());
  if (auto const current = role_.current())
    text += fmt::format(", {} threads at work", running_);
  else if (role_.draining())
    text += ", draining";
  else if (auto const victim = role_.asked())
    text += fmt::format(", has asked rank {}", *victim);
  if (role_.wanted()) text += fmt::format(", {} thieves wait", role_.thieves());
  if (roll_ && roll_->stopping())
    text += fmt::format("; root: stopping, waiting for ranks [{}]", fmt::join(roll_->not_stopped(), " "));
  return text;
}

// The run makes no progress: the root says where it stands, and ends the job.
void steal_run::watch(double t) {
  double const limit = engine_.options().watchdog_seconds;
  if (limit <= 0 || over_ || !is_root() || t - last_moved_ < limit) return;
  auto const text = fmt::format("no progress for {:.0f} s", t - last_moved_);
  std::fprintf(stderr, "skel: %s: %s\n", text.c_str(), state().c_str());
  protocol::steal_actions list;
  roll_->abort(text, list);
  perform(list);
  over_ = true;
  for (int i = 0; i < 1000 && engine_.size() > 1; ++i) {  // the others print too before mpiexec ends them
    engine_.progress();
    engine_.wires().wait(1e-3);
  }
  ctx_.leave(1);
}

}  // namespace skel::detail
