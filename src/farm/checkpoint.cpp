// A farm's checkpoints: what an earlier run has left goes to the sink first, and what comes is recorded.
#include <utility>

#include "call/user_code.hpp"
#include "run.hpp"

namespace skel::detail {

void farm_run::open_store() {
  recorder_ = std::make_unique<farm_recorder>(engine_, work_, traits_, *options_.checkpoint);
  sink_.record_to([this](range_list const& ranges, std::span<std::byte const> results) {
    recorder_->add(ranges, results);
  });
}

void farm_run::restore() {
  if (!recorder_) return;
  for (auto& batch : recorder_->take_restored()) {
    auto const ranges = batch.ranges;
    sink_.push(std::move(batch), ranges);
  }
}

// The run stops: the sink will not have what waits for it, but a later run need not compute it again.
void farm_run::record_rest(std::unique_lock<std::mutex> lock) {
  if (!recorder_) {
    sink_.discard();
    return;
  }
  auto const entries = sink_.take();
  lock.unlock();
  if (auto const bad = thrown_by([&] { sink_.record_only(entries); }))
    warn_of_store(*bad);  // of the user's serialisation, when the run has failed or ends anyway
}

void farm_run::save_last() {
  if (!recorder_) return;
  record_rest(std::unique_lock(engine_.mutex()));
  recorder_->close();
  auto& costs = recorder_->costs();
  costs.serialise_seconds = sink_.recording_seconds();
  costs.blocked_seconds += costs.serialise_seconds;
}

std::optional<checkpoint_report> farm_run::checkpoint_costs() const {
  if (!recorder_) return {};
  return recorder_->costs();
}

}  // namespace skel::detail
