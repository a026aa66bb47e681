// Passes accepted results to the user's sink: one call at a time, in task order if asked to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "skel/detail/farm_work.hpp"
#include "skel/report.hpp"
#include "transport/packet.hpp"

namespace skel::detail {

/// Results of one message, or of one rank's own work.
struct result_batch {
  range_list ranges;                     // in the order of the results
  transport::packet packed;              // either packed, `offset` bytes into the packet
  std::unique_ptr<local_results> local;  // or as objects
  bool in_place = false;                 // or already where the sink would put them
  [[nodiscard]] bool is_packed() const { return !local && !in_place; }
  bool restored = false;                     // from an earlier run
  std::unique_ptr<task_failure> left_out{};  // there is no result of this one task
};

class sink_stage {
 public:
  sink_stage(farm_work& work, bool ordered, bool merged) : work_(work), ordered_(ordered), merged_(merged) {}

  /// Takes a batch whose tasks in `accepted` (a subsequence) go to the sink. Call under the engine's lock.
  void push(result_batch batch, range_list const& accepted);
  /// Called by drain() with each result as bytes, once, before the sink receives it: for checkpoints.
  /// Restored results are left out.
  using recorder = std::function<void(range_list const&, std::span<std::byte const>)>;
  void record_to(recorder r) { recorder_ = std::move(r); }
  /// Seconds spent here so far, the recorder's included.
  [[nodiscard]] double recording_seconds() const { return recording_seconds_; }

  [[nodiscard]] bool waiting() const { return !queue_.empty(); }

  struct progress {
    std::uint64_t sunk = 0;
    task_id next = 0;
    bool stop = false;  // the sink asked to stop
    std::optional<std::pair<task_id, std::string>> error;
  };
  struct entry {
    std::shared_ptr<result_batch> batch;
    range_list ranges;    // of the batch
    range_list accepted;  // of these; empty if `all`
    bool all = true;
  };
  /// Returns the pushed results, for drain(). Call under the engine's lock.
  [[nodiscard]] std::vector<entry> take() { return std::exchange(queue_, {}); }
  /// Gives back a list that drain() has handled, to reuse its memory. Call under the engine's lock.
  void reuse(std::vector<entry>& had);
  /// Passes results to the sink. Call without the engine's lock, from one thread at a time. Never throws:
  /// the progress returned holds the sink's exception, and the sink is not called again.
  progress drain(std::span<entry> entries);
  /// Instead of drain() when the run stops early: only records the results, if there is a recorder.
  void record_only(std::span<entry const> entries);

 private:
  struct pending {
    std::shared_ptr<result_batch> batch;
    task_range range;
    std::uint64_t index = 0;             // of the first result in `local`
    std::span<std::byte const> bytes{};  // from the first result on
  };
  void route(entry& e);
  void keep(entry const& e);
  void keep_all(entry const& e);
  void keep_accepted(entry const& e);
  void give(pending& p, std::uint64_t count);
  void call_sink(pending& p, std::uint64_t count);
  void deliver_in_order();

  farm_work& work_;
  bool ordered_;
  bool merged_;
  recorder recorder_;
  double recording_seconds_ = 0;
  std::vector<std::byte> packed_;  // for the recorder; kept for its memory
  std::vector<entry> queue_;
  std::map<task_id, pending> early_;  // if ordered: by the first task left of each, as the list numbers it
  progress state_;
};

}  // namespace skel::detail
