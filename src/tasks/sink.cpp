#include "sink.hpp"

#include <algorithm>
#include <utility>

#include "call/user_code.hpp"

namespace skel::detail {

// --- farm_help

void farm_help::handled_results(bool own, std::uint64_t count, double seconds) {
  double const cost = seconds / static_cast<double>(count);
  auto& mean = own ? own_result_cost_ : other_result_cost_;
  double const before = mean.load(std::memory_order_relaxed);  // only one thread at a time handles results
  mean.store(before == 0 ? cost : 0.7 * before + 0.3 * cost, std::memory_order_relaxed);
}

bool farm_help::root_is_at_it(double t) const {
  constexpr double lately = 1e-3;
  return t - own_finished_.load(std::memory_order_relaxed) < lately;
}

bool farm_help::costs_more_than_it_brings(double t) const {
  double const task = task_cost_.load(std::memory_order_relaxed);
  double const own = own_result_cost_.load(std::memory_order_relaxed);
  return task > 0 && own > 0 && other_result_cost_.load(std::memory_order_relaxed) > task + own &&
         root_is_at_it(t);
}

// --- farm_sink

farm_sink::farm_sink(engine& of, farm_work& work, farm_traits const& traits,
                     std::optional<checkpoint_options> const& checkpoint, std::string const& label,
                     window_size window)
    : engine_(of), stage_(work, traits.ordered, traits.merged), window_(window) {
  if (!checkpoint) return;
  recorder_ = std::make_unique<farm_recorder>(of, work, traits, *checkpoint, label);
  stage_.record_to([this](range_list const& ranges, std::span<std::byte const> results) {
    recorder_->add(ranges, results);
  });
}

void farm_sink::push(result_batch batch, range_list const& accepted) {
  if (batch.is_packed()) window_.came(count_tasks(batch.ranges), batch.packed.bytes().size());
  stage_.push(std::move(batch), accepted);
}

void farm_sink::push_left_out(task_id task, task_failure why) {
  result_batch none;
  none.ranges = {{task, 1, 1}};
  none.left_out = std::make_unique<task_failure>(std::move(why));
  auto const all = none.ranges;
  stage_.push(std::move(none), all);
}

void farm_sink::push_restored() {
  if (!recorder_) return;
  for (auto& batch : recorder_->take_restored()) {
    auto const ranges = batch.ranges;
    push(std::move(batch), ranges);
  }
}

void farm_sink::recycle(entries& had) {
  for (auto& e : had)
    if (e.batch.use_count() == 1 && e.batch->is_packed())
      engine_.wires().recycle(std::move(e.batch->packed).release());
  stage_.reuse(had);
}

// Measures the root's own results apart from those that came as bytes.
sink_stage::progress farm_sink::drain(entries& list) {
  sink_stage::progress progress;
  progress.sunk = sunk_;
  for (auto first = list.begin(); first != list.end();) {
    bool const own = !first->batch->is_packed();
    auto const last =
        std::find_if(first, list.end(), [&](auto const& e) { return e.batch->is_packed() == own; });
    double const begin = engine_.now();
    auto const before = progress.sunk;
    progress = stage_.drain({first, last});
    first = last;
    if (progress.sunk > before) help_.handled_results(own, progress.sunk - before, engine_.now() - begin);
  }
  sunk_ = progress.sunk;
  return progress;
}

void farm_sink::pass_on(std::function<verdict()> const& judge, std::function<void()> const& before,
                        std::function<void(sink_stage::progress const&, double, task_id)> const& after) {
  while (true) {
    std::unique_lock lock(engine_.mutex());
    auto const what = judge();
    if (!waiting() || what == verdict::leave) return;
    if (what == verdict::drop) {
      drop_rest(std::move(lock));
      return;
    }
    auto list = take();
    lock.unlock();
    double const begin = engine_.now();
    auto const first = list.front().ranges.empty() ? 0 : list.front().ranges.front().first;
    before();
    auto const progress = drain(list);
    lock.lock();
    recycle(list);
    after(progress, begin, first);
  }
}

void farm_sink::drop_rest(std::unique_lock<std::mutex> lock) {
  auto const rest = stage_.take();
  lock.unlock();
  if (!recorder_) return;
  if (auto const bad = thrown_by([&] { stage_.record_only(rest); }))
    warn_of_store(*bad);  // from the user's serialisation, when the run has failed or ends anyway
}

void farm_sink::save_if_due() {
  if (recorder_) recorder_->save_if_due(engine_.now());
}

void farm_sink::save_last() {
  if (!recorder_) return;
  drop_rest(std::unique_lock(engine_.mutex()));
  recorder_->close();
  auto& costs = recorder_->costs();
  costs.serialise_seconds = stage_.recording_seconds();
  costs.blocked_seconds += costs.serialise_seconds;
}

std::optional<checkpoint_report> farm_sink::checkpoint_costs() {
  if (!recorder_) return {};
  return recorder_->costs();
}

range_list farm_sink::restored_tasks() const {
  return recorder_ ? recorder_->restored_tasks() : range_list{};
}

}  // namespace skel::detail
