// Adapter of gather: converts the parts to bytes and back, and repeats a bsp whose parts are lost.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// On the root: calls `take` with the index and the bytes of each part, in order. Returns false if the bsp
/// was stopped early. `types` distinguishes calls.
[[nodiscard]] bool gather_parts(context& ctx, report const& run, std::string const& types,
                                function_reference<void(std::vector<std::byte>&)> pack_mine,
                                function_reference<void(std::uint64_t, std::span<std::byte const>)> take);

/// The same with one part for each rank, without those of lost ranks.
void gather_values(context& ctx, std::string const& types,
                   function_reference<void(std::vector<std::byte>&)> pack_mine,
                   function_reference<void(std::uint64_t, std::span<std::byte const>)> take);

template <class T>
void pack_gathered(T const& value, std::vector<std::byte>& out) {
  static_assert(can_travel<T>(),
                "skel::gather: the type cannot be sent. Make it trivially copyable without pointers or "
                "views, give it a "
                "serialize() function (skel/serialization.hpp), or specialise skel::transfer_traits.");
  if constexpr (transferable<T>) {
    out.reserve(out.size() + packed_size(value));
    pack(value, out);
  }
}

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

template <value_of_rank T>
std::optional<std::vector<std::optional<T>>> gather(context& ctx, T const& mine) {
  std::vector<std::optional<T>> all(static_cast<std::size_t>(ctx.size()));
  detail::gather_values(
      ctx, typeid(T).name(), [&](std::vector<std::byte>& out) { detail::pack_gathered(mine, out); },
      [&](std::uint64_t rank, std::span<std::byte const> in) {
        if constexpr (transferable<T>) all[rank] = unpack<T>(in);
      });
  if (!ctx.is_root()) return std::nullopt;
  return all;
}

template <value_of_rank T>
std::optional<std::vector<std::optional<T>>> all_gather(context& ctx, T const& mine) {
  auto values = gather(ctx, mine);
  return broadcast(ctx, on_root([&] { return *std::move(values); }), "gather").value;
}

template <class T>
std::optional<std::vector<T>> gather(context& ctx, result<T> const& part) {
  std::vector<T> all;
  bool const complete = detail::gather_parts(
      ctx, part.report, typeid(T).name(),
      [&](std::vector<std::byte>& out) { detail::pack_gathered(part.value, out); },
      [&](std::uint64_t /*index*/, std::span<std::byte const> in) {
        if constexpr (transferable<T>) all.push_back(unpack<T>(in));
      });
  if (!complete || !ctx.is_root()) return std::nullopt;
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
