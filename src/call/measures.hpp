// What is measured of a call: seconds, tasks and messages of every rank for the report, spans for the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "entry.hpp"
#include "observe/trace_buffer.hpp"
#include "skel/observe/trace.hpp"
#include "skel/report.hpp"

namespace skel::detail {

/// The measurements of this rank, and on the root those of the others. Requires the engine's lock, except for
/// span() and the clock of a thread, which that thread uses.
class call_measures {
 public:
  // Padded, so that threads do not share cache lines.
  struct alignas(128) thread_clock {
    double busy = 0;
    double idle = 0;
    double idle_since = -1;  // waiting for work since then
    double found = 0;        // the latest work
    std::uint64_t tasks = 0;
  };

  call_measures(call_entry const& entry, unsigned threads, bool traced);
  /// The call begins to send messages.
  void start();
  /// This rank runs no tasks: its row names no compute threads.
  void only_serves() { computes_ = false; }
  /// The time of the call's construction.
  [[nodiscard]] double began() const { return began_; }
  [[nodiscard]] double seconds() const { return engine_.now() - began_; }

  [[nodiscard]] thread_clock& operator[](unsigned thread) { return clocks_[thread]; }
  [[nodiscard]] thread_clock& last() { return clocks_.back(); }
  [[nodiscard]] std::uint64_t tasks_run() const;

  /// The current time if a trace is recorded, otherwise 0.
  [[nodiscard]] double span_begin() const { return trace_ ? engine_.now() : 0; }
  void span(unsigned thread, observe::activity what, double begin, double end, std::uint64_t first,
            std::uint64_t count) {
    if (trace_) trace_->add({begin - began_, end - began_, first, count, thread, what});
  }

  /// A rank was lost before the call began.
  void lost_before(int rank) { lost_before_.insert(rank); }
  /// On the root: a rank is lost; may be repeated.
  void lost(int rank, unsigned thread);
  /// Packs the measurements of this rank for the root. `compute_threads` of the `threads` take work.
  void pack(unsigned threads, unsigned compute_threads, std::vector<std::byte>& out);
  /// On the root: reads those of another rank; may be repeated.
  void unpack(int from, std::span<std::byte const>& in);

  /// Measures this rank for the last time. Returns the ranks, threads and rows of the report.
  [[nodiscard]] report rows(unsigned threads, unsigned compute_threads);
  /// Adds what follows from the rows and from the skeleton's part of the report.
  void complete(report& r) const;
  /// Hands the trace of all ranks to the engine of the root. `broken`: the call has failed here.
  void end_trace(std::unique_lock<std::mutex>& lock, bool broken, std::string const& label);

 private:
  struct rank_stats {
    rank_report row;
    observe::rank_trace trace;
  };
  [[nodiscard]] rank_stats own(unsigned threads, unsigned compute_threads);
  void add(rank_stats stats);

  call_entry const& entry_;
  engine& engine_;
  double began_;
  bool computes_ = true;
  std::vector<thread_clock> clocks_;
  std::unique_ptr<observe::trace_buffer> trace_;
  std::set<int> lost_before_;
  std::set<int> traced_losses_;
  std::vector<rank_stats> stats_;  // on the root: of all ranks in the end
  std::uint64_t base_messages_ = 0;
  std::uint64_t base_bytes_ = 0;
};

}  // namespace skel::detail
