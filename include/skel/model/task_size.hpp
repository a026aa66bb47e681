// How large the tasks of a farm should be: small tasks cost messages, large ones make ranks wait at
// the end.
#pragma once

#include "skel/model/predict.hpp"

namespace skel::model {

/// A farm whose tasks are sets of equal units: pixels, rays, records.
struct farm_work {
  double units = 0;         ///< of all tasks together
  double unit_seconds = 0;  ///< of computing one
  double unit_bytes = 0;    ///< of its result
  int workers = 1;          ///< compute threads of all ranks together
};

/// The cost of a farm of N units of u seconds in tasks of p units with W workers, where each task
/// takes a grant and a result that carries the next request [Storm95, §3]:
///
///     T(p) = max((N u + N / p (h + 2 l) + N b g) / W, N / p 2 l + N b g) + p u / 2
///
/// The maximum is over the workers' even share of units and messages, and the messages that pass
/// through the root. The last summand is the average wait for the last task. `where` has l and g;
/// nullptr: all workers are threads of one process, l = g = 0. h is the hand-over of a task to a
/// thread, 2 µs as measured by benchmarks/farm. Schedules that grant several tasks at once or send
/// results in batches send fewer messages, so for them T(p) is an upper bound. The parts are
/// "work", "messages" and "end", or "root" and "end".
///
/// Throws usage_error for less than one worker, less than one unit per task, or a negative cost.
[[nodiscard]] estimate predict_farm(farm_work const& work, machine_at const* where, double task_units);

/// The p that minimises T(p), from one unit to a quarter of a worker's share: tasks differ, so
/// every worker should get at least four. If the workers limit the farm, it is sqrt(2 N (h + 2 l)
/// / (W u)). With an l that is wrong by a factor of 5, messages and end cost a third more than
/// their minimum. Throws as predict_farm().
[[nodiscard]] double best_task_units(farm_work const& work, machine_at const* where);

}  // namespace skel::model
