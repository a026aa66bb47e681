// How large the tasks of a farm should be: what a task costs beside its work, against what the last ones
// cost.
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

/// What a farm of N units u in tasks of p of them takes with W workers, each task with a grant and with a
/// result that carries the next request (StormView, section 3):
///     T(p) = max((N u + N / p (h + 2 l) + N b g) / W, N / p 2 l + N b g) + p u / 2
/// the workers' even share of units and messages, or what passes through the root, whichever takes longer;
/// then half a task that the others wait for the last. `where` has l and g; nullptr: all workers are threads
/// of one process, no message is sent, l = g = 0. h is the hand-over of a task to a thread, 2 µs as
/// benchmarks/farm measures it. Schedules that grant several tasks at once, or send results in batches, need
/// fewer messages: then this is an upper bound. The parts are "work", "messages" and "end", or "root" and
/// "end". usage_error for less than one worker, less than one unit in a task, or a negative cost.
[[nodiscard]] estimate predict_farm(farm_work const& work, machine_at const* where, double task_units);

/// The p of the least T(p), from one unit to a quarter of a worker's share: tasks are not alike, so every
/// worker should get four at least. Where the workers decide it is sqrt(2 N (h + 2 l) / (W u)). An l that is
/// wrong by a factor of 5 costs a third more than the least that messages and end can cost together.
/// usage_error as predict_farm.
[[nodiscard]] double best_task_units(farm_work const& work, machine_at const* where);

}  // namespace skel::model
