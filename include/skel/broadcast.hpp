// broadcast: sends a value that the root has read to all ranks.
//
//     std::string read_everywhere(skel::context& ctx, std::string const& path) {
//       auto const read = [&] {  // on the root only
//         std::ifstream in(path);
//         return std::string(std::istreambuf_iterator<char>(in), {});
//       };
//       return skel::broadcast(ctx, skel::on_root(read)).value.value_or("stopped early");
//     }
#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include "skel/context.hpp"
#include "skel/report.hpp"
#include "skel/source.hpp"

namespace skel {

/// Calls `open` on the root. `value` of the result is what it returned, on every rank; empty if the
/// run was stopped early (context::request_stop()). `label` is shown by progress and trace.
///
/// Collective. The bytes are divided among the ranks, which then exchange their parts, as a
/// hypercube divide_and_conquer. For any number of ranks, each rank receives the value about once
/// and sends it at most twice. During the call, the root holds up to four copies of the value in
/// memory, the other ranks up to three. Losses are handled as in divide_and_conquer, but never
/// blamed on the work.
///
/// Throws, on every rank: source_error when `open` throws; otherwise as divide_and_conquer.
template <class Open>
[[nodiscard]] auto broadcast(context& ctx, on_root<Open> source, std::string const& label = "broadcast")
    -> result<std::optional<std::remove_cvref_t<typename on_root<Open>::opened>>>;

}  // namespace skel

#include "skel/detail/broadcast_adapter.hpp"
