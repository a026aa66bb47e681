// Ranks as threads of one process, without MPI: for unit tests of parallel code, and for debuggers.
//
//     skel::run_threads(4, [](skel::context& ctx) {  // in any process, as often as you like
//       std::vector<std::uint64_t> all;
//       skel::farm(ctx, skel::indices(100), square, skel::into(all));
//       if (ctx.is_root()) check(all);
//     });
#pragma once

#include "skel/context.hpp"
#include "skel/detail/function_reference.hpp"

namespace skel {

/// Calls body(context) once per rank, each on a thread of its own, and returns when all have ended. All
/// skeletons, teams and checkpoints work as over MPI, with the same protocols and the same bytes; only the
/// messages stay in memory. With options.threads = 0, the ranks share this process's cores, with at least
/// one compute thread each.
///
/// Throws what escapes from the body on the lowest rank that failed by itself; the other ranks' calls then
/// fail, as under run_main. Throws usage_error for less than one rank. context::communicator() throws in
/// the body, because there is no MPI.
void run_threads(int ranks, detail::function_reference<void(context&)> body,
                 context_options const& options = context_options::from_environment());

}  // namespace skel
