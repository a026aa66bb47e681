// broadcast: what one rank has read reaches all.
//
//     std::string read_everywhere(skel::context& ctx, std::string const& path) {
//       auto const read = [&] {  // on the root only
//         std::ifstream in(path);
//         return std::string(std::istreambuf_iterator<char>(in), {});
//       };
//       return skel::broadcast(ctx, skel::on_root(read)).value_or("stopped early");
//     }
#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include "skel/context.hpp"
#include "skel/source.hpp"

namespace skel {

/// Calls `open` on the root, and returns what it has returned on every rank; nothing where the run was
/// stopped early (context::request_stop()).
///
/// Collective. The bytes are divided among the ranks, who then exchange what they have: a hypercube
/// divide_and_conquer whose parts are parts of the value, so that a rank receives it little more than once
/// and sends it no more than twice, whatever the number of ranks. Meanwhile the root has up to four times the
/// value in memory, and the others three times. Ranks may be lost, as in every such call.
///
/// Throws, on every rank: source_error when `open` throws; else as divide_and_conquer.
template <class Open>
[[nodiscard]] auto broadcast(context& ctx, on_root<Open> source, std::string const& label = "broadcast")
    -> std::optional<std::remove_cvref_t<typename on_root<Open>::opened>>;

}  // namespace skel

#include "skel/detail/broadcast_adapter.hpp"
