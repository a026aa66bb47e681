// Results on their way to the sink, on the root.
#include <deque>
#include <utility>

#include "run.hpp"

namespace skel::detail {

void farm_run::drain_sink() {
  if (!is_root()) return;
  if (help_.held_back() && !help_.root_is_at_it(now())) {
    std::lock_guard const lock(engine_.mutex());
    weigh_help();
  }
  if (sink_busy_.test_and_set(std::memory_order_acquire)) return;
  struct clear_at_end {
    std::atomic_flag& flag;
    ~clear_at_end() { flag.clear(std::memory_order_release); }
  } const not_busy{sink_busy_};
  if (display_) show_progress(false);
  if (recorder_) recorder_->save_if_due(now());
  while (true) {
    std::deque<sink_stage::entry> entries;
    {
      std::unique_lock lock(engine_.mutex());
      if (!sink_.waiting() || over_) return;
      if (ledger_->stopping()) {
        record_rest(std::move(lock));
        return;
      }
      entries = sink_.take();
    }
    double const begin = now();
    auto const first = entries.front().ranges.empty() ? 0 : entries.front().ranges.front().first;
    engine_.rest_helper(false);  // the sink may take its time
    auto const progress = drain_timed(entries);
    span(threads_ + 1, observe::activity::sink, begin, now(), first, progress.sunk - sunk_);
    sunk_ = progress.sunk;
    std::lock_guard const lock(engine_.mutex());
    // The memory of messages serves again: fresh pages would cost more than what is read into them.
    for (auto& e : entries)
      if (e.batch.use_count() == 1 && e.batch->is_packed())
        engine_.wires().recycle(std::move(e.batch->packed).release());
    role::farm_actions list;
    if (progress.error) ledger_->sink_failed(progress.error->first, progress.error->second, list);
    ledger_->sunk(progress.sunk, progress.next, list);
    if (progress.stop) ledger_->stop_early(list);
    perform(list, nullptr);
    weigh_help();
  }
}

}  // namespace skel::detail
