// Between the ledger and the user's sink: one call at a time, in task order where that is asked for.
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
#include "transport/packet.hpp"

namespace skel::detail {

/// Results of one message, or of one rank's own work.
struct result_batch {
  range_list ranges;                     // in the order of the results
  transport::packet packed;              // either packed, `offset` bytes into the packet
  std::unique_ptr<local_results> local;  // or as objects
  bool in_place = false;                 // or where the sink would put them
  [[nodiscard]] bool is_packed() const { return !local && !in_place; }
  bool restored = false;  // an earlier run had them
};

class sink_stage {
 public:
  sink_stage(farm_work& work, bool ordered, bool merged) : work_(work), ordered_(ordered), merged_(merged) {}

  /// Takes a batch of which the tasks of `accepted` (a subsequence) are to be given to the sink. Under the
  /// engine's lock.
  void push(result_batch batch, range_list const& accepted);
  /// Results as bytes, once each, before the sink has them: for checkpoints. Called by drain(); restored ones
  /// are left out.
  using recorder = std::function<void(range_list const&, std::span<std::byte const>)>;
  void record_to(recorder r) { recorder_ = std::move(r); }
  /// Seconds that this took so far, the recorder's own included.
  [[nodiscard]] double recording_seconds() const { return recording_seconds_; }

  [[nodiscard]] bool waiting() const { return !queue_.empty(); }

  struct progress {
    std::uint64_t sunk = 0;
    task_id next = 0;
    bool stop = false;  // the sink has had enough
    std::optional<std::pair<task_id, std::string>> error;
  };
  struct entry {
    std::shared_ptr<result_batch> batch;
    range_list ranges;    // of the batch
    range_list accepted;  // of those; empty with all = true
    bool all = true;
  };
  /// What has been pushed, for drain(). Under the engine's lock.
  [[nodiscard]] std::vector<entry> take() { return std::exchange(queue_, {}); }
  /// The memory of a list that drain() has handled serves for what is pushed next. Under the engine's lock.
  void reuse(std::vector<entry>& had);
  /// Gives results to the sink. Without the engine's lock, by one thread at a time. Never throws: an
  /// exception of the sink comes back in the progress, and the sink is not called again.
  progress drain(std::span<entry> entries);
  /// Instead, as the run stops and the sink has no more of it: they are recorded, if anything is.
  void record_only(std::span<entry const> entries);

 private:
  struct pending {
    std::shared_ptr<result_batch> batch;
    task_range range;
    std::uint64_t index = 0;             // of its first result in local
    std::span<std::byte const> bytes{};  // from its first result on
  };
  void route(entry& e);
  void keep(entry const& e);
  void keep_all(entry const& e) const;
  void keep_accepted(entry const& e) const;
  void give(pending& p, std::uint64_t count);
  void deliver_in_order();

  farm_work& work_;
  bool ordered_;
  bool merged_;
  recorder recorder_;
  double recording_seconds_ = 0;
  std::vector<entry> queue_;
  std::map<task_id, pending> early_;  // ordered: by the first task of what is left of it
  progress state_;
};

}  // namespace skel::detail
