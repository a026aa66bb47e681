// gather: brings a value of each rank, or the final states of a bsp, to the root or to all ranks.
//
//     struct line {  // each rank has a part of the numbers 0 to 99
//       using state = std::vector<int>;
//       using message = int;
//       state begin(int rank, int size) const {
//         state mine;
//         for (int i = 100 * rank / size; i < 100 * (rank + 1) / size; ++i) mine.push_back(i);
//         return mine;
//       }
//       bool step(state& mine, skel::superstep<message>& now) const {
//         now.parallel_for(mine.size(), [&](std::uint64_t i) { mine[i] *= mine[i]; });
//         return false;
//       }
//     };
//
//     std::vector<int> squares(skel::context& ctx) {
//       std::vector<int> all;
//       auto const parts = skel::gather(ctx, line{}).value;  // on the root
//       if (parts)
//         for (auto const& part : *parts) all.insert(all.end(), part.begin(), part.end());
//       return all;
//     }
#pragma once

#include <optional>
#include <type_traits>
#include <vector>

#include "skel/bsp.hpp"
#include "skel/context.hpp"
#include "skel/report.hpp"

namespace skel {

/// Satisfied by a value that is neither the result nor the program of a bsp.
template <class T>
concept value_of_rank = !std::is_array_v<T> && !requires {
  typename T::state;
  typename T::message;
};

/// Returns the values that the ranks passed, on the root: element r is that of rank r, and empty if that rank
/// was lost. Returns nothing on the other ranks. For data that belong to a rank, such as what it measured;
/// results of tasks belong into a sink.
///
///     auto const temperatures = skel::gather(ctx, read_sensor());
///
/// Collective. The root receives each value once.
///
/// Throws, on every rank: task_error, whose task is the rank, if a value cannot be packed or unpacked.
template <value_of_rank T>
[[nodiscard]] std::optional<std::vector<std::optional<T>>> gather(context& ctx, T const& mine);

/// The same, but returns the values on every rank, by a broadcast(); on none if the context is stopped
/// (context::request_stop()).
template <value_of_rank T>
[[nodiscard]] std::optional<std::vector<std::optional<T>>> all_gather(context& ctx, T const& mine);

/// Returns the values of all parts of a bsp call to the root, in the order of the parts: part i of the result
/// is that of the rank with `report.part->index` == i. There may be fewer parts than ranks, see
/// part_report. `part` is what bsp() returned on this rank, or any value with that report:
///
///     auto const [state, report] = skel::bsp(ctx, program);
///     auto const norms = skel::gather(ctx, skel::result<double>{norm(state), report});
///
/// Returns nothing on the other ranks, and on all ranks if the bsp was stopped early: its states may then
/// belong to different supersteps.
///
/// Collective. The root receives each value once, and holds all of them twice, as bytes and as values.
///
/// Throws, on every rank: lost_rank_error if a rank is lost before the root has received its part, whether
/// before or during this call; task_error, whose task is the part, if a value cannot be packed or unpacked;
/// usage_error if the parts are not of one bsp call.
template <class T>
[[nodiscard]] std::optional<std::vector<T>> gather(context& ctx, result<T> const& part);

/// The same, but returns the values on every rank, by a broadcast().
template <class T>
[[nodiscard]] std::optional<std::vector<T>> all_gather(context& ctx, result<T> const& part);

/// Runs the program as bsp() does, and gathers its states. If a rank is lost before the root has its part,
/// the others repeat the run from its last checkpoint, or from the beginning if there is none. Returns the
/// states on the root, otherwise as above, and the report of the latest run.
///
/// Throws as bsp() and gather() do; lost_rank_error only if the root is lost (see bsp()), if the program has
/// no `split` and the checkpoint is of more ranks, or if parts of bsp_options::max_losses_per_task runs are
/// lost.
template <bsp_program P>
[[nodiscard]] result<std::optional<std::vector<typename P::state>>> gather(context& ctx, P const& program,
                                                                           bsp_options const& options = {});

/// The same, but returns the states on every rank.
template <bsp_program P>
[[nodiscard]] result<std::optional<std::vector<typename P::state>>> all_gather(
    context& ctx, P const& program, bsp_options const& options = {});

}  // namespace skel

#include "skel/detail/gather_adapter.hpp"
