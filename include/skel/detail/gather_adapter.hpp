// Adapter of gather: converts the parts to bytes and back, and repeats a bsp whose parts are lost.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "skel/broadcast.hpp"
#include "skel/detail/function_reference.hpp"
#include "skel/error.hpp"
#include "skel/gather.hpp"
#include "skel/source.hpp"
#include "skel/transfer.hpp"

namespace skel {

namespace detail {

/// On the root: calls `take` with the bytes of each part, in order. Returns false if the bsp was stopped
/// early. `types` distinguishes calls.
[[nodiscard]] bool gather_parts(context& ctx, report const& run, std::string const& types,
                                function_reference<void(std::vector<std::byte>&)> pack_mine,
                                function_reference<void(std::span<std::byte const>)> take);

/// Runs the program until all its parts are gathered by `gathered`.
template <class P, class Gathered>
auto gather_repeatedly(context& ctx, P const& program, bsp_options const& options, Gathered const& gathered)
    -> result<std::optional<std::vector<typename P::state>>> {
  for (unsigned losses = 1;; ++losses) {
    auto run = bsp(ctx, program, options, losses > 1);
    try {
      auto parts = gathered(run);
      return {std::move(parts), std::move(run.report)};
    } catch (lost_rank_error const& e) {
      bool const deadly = options.max_losses_per_task != 0 && losses >= options.max_losses_per_task;
      if (e.rank() == 0 || deadly) throw;
    }
  }
}

}  // namespace detail

template <class T>
std::optional<std::vector<T>> gather(context& ctx, result<T> const& part) {
  static_assert(detail::can_travel<T>(),
                "skel::gather: the type cannot be sent. Make it trivially copyable without pointers or "
                "views, give it a "
                "serialize() function (skel/serialization.hpp), or specialise skel::transfer_traits.");
  std::vector<T> all;
  if constexpr (transferable<T>) {
    auto const pack_mine = [&](std::vector<std::byte>& out) {
      out.reserve(out.size() + packed_size(part.value));
      pack(part.value, out);
    };
    auto const take = [&](std::span<std::byte const> in) { all.push_back(unpack<T>(in)); };
    if (!detail::gather_parts(ctx, part.report, typeid(T).name(), pack_mine, take) || !ctx.is_root())
      return std::nullopt;
  }
  return all;
}

template <class T>
std::optional<std::vector<T>> all_gather(context& ctx, result<T> const& part) {
  auto parts = gather(ctx, part);
  if (part.report.stopped_early) return std::nullopt;
  return broadcast(ctx, on_root([&] { return *std::move(parts); }), "gather").value;
}

template <bsp_program P>
result<std::optional<std::vector<typename P::state>>> gather(context& ctx, P const& program,
                                                             bsp_options const& options) {
  return detail::gather_repeatedly(ctx, program, options, [&](auto const& run) { return gather(ctx, run); });
}

template <bsp_program P>
result<std::optional<std::vector<typename P::state>>> all_gather(context& ctx, P const& program,
                                                                 bsp_options const& options) {
  return detail::gather_repeatedly(ctx, program, options,
                                   [&](auto const& run) { return all_gather(ctx, run); });
}

}  // namespace skel
