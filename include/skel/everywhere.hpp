// A sink of farms that gives the results to all ranks, not only to the root.
//
//     std::vector<double> results;
//     skel::farm(ctx, skel::indices(1000), f, skel::everywhere(skel::into(results)));
//     double const last = results.back();  // on every rank
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "skel/detail/broadcast_adapter.hpp"
#include "skel/detail/conversion.hpp"
#include "skel/farm.hpp"
#include "skel/sink.hpp"
#include "skel/transfer.hpp"

namespace skel {

/// Wraps skel::into(results) or skel::reduced(total): after the farm, the vector or the total of the root is
/// broadcast, and every rank has it. Every living rank gets the same, whichever others are lost. The root
/// needs up to four times the memory of the results during the broadcast, other ranks three times.
///
/// If the farm ends early, all ranks get what the root's sink has received. Only if the context is stopped
/// (context::request_stop()), the vectors and totals of the other ranks stay as they are.
template <class Sink>
struct everywhere {
  Sink sink;  ///< the wrapped sink
  /// Wraps `s`.
  explicit everywhere(Sink s) : sink(std::move(s)) {}
};

/// Runs farm(), and then gives the results to all ranks. The report is that of the farm.
template <farm_source Source, class F, farm_schedule S, class Sink>
result<void> farm(context& ctx, Source&& source, F const& f, S const& how, everywhere<Sink> sink,
                  farm_options const& options = {});
/// The same with schedule::adaptive.
template <farm_source Source, class F, class Sink>
result<void> farm(context& ctx, Source&& source, F const& f, everywhere<Sink> sink,
                  farm_options const& options = {});

namespace detail {

template <class T>
std::vector<T>* target_of(vector_sink<T> const& sink) {
  return &sink.results();
}
template <class T, class Merge>
T* target_of(reduced<T, Merge> const& sink) {
  return sink.total;
}
template <class Sink>
int* target_of(Sink const& /*sink*/) {
  static_assert(never<Sink>, "skel::everywhere: the sink is skel::into(results) or skel::reduced(total).");
  return nullptr;
}

template <class T>
void give_everywhere(context& ctx, T& value) {
  static_assert(transferable<T>,
                "skel::everywhere: the vector or total cannot be sent to the other ranks: see "
                "skel/transfer.hpp.");
  if constexpr (transferable<T>) {
    if (ctx.size() == 1) return;
    auto const packed = [&] {
      std::vector<std::byte> bytes;
      pack(value, bytes);
      return bytes;
    };
    auto const sent = broadcast_bytes(ctx, packed, "everywhere").value;
    if (!sent || ctx.is_root()) return;
    std::span<std::byte const> in(*sent);
    value = unpack<T>(in);
  }
}

}  // namespace detail

template <farm_source Source, class F, farm_schedule S, class Sink>
result<void> farm(context& ctx, Source&& source, F const& f, S const& how, everywhere<Sink> sink,
                  farm_options const& options) {
  auto* const target = detail::target_of(sink.sink);
  auto run = farm(ctx, std::forward<Source>(source), f, how, std::move(sink.sink), options);
  detail::give_everywhere(ctx, *target);
  return run;
}

template <farm_source Source, class F, class Sink>
result<void> farm(context& ctx, Source&& source, F const& f, everywhere<Sink> sink,
                  farm_options const& options) {
  return farm(ctx, std::forward<Source>(source), f, schedule::adaptive{}, std::move(sink), options);
}

}  // namespace skel
