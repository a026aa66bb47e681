// Adapter of broadcast: converts the user's value to bytes and back.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "skel/broadcast.hpp"
#include "skel/detail/function_reference.hpp"
#include "skel/transfer.hpp"

namespace skel {

namespace detail {

/// The call on one rank: only opens the source.
[[nodiscard]] report broadcast_alone(context& ctx, function_reference<void()> open);

/// Returns the bytes that `packed` returned on the root. Returns nothing if the run was stopped
/// early.
[[nodiscard]] result<std::optional<std::vector<std::byte>>> broadcast_bytes(
    context& ctx, function_reference<std::vector<std::byte>()> packed, std::string const& label);

}  // namespace detail

template <class Open>
auto broadcast(context& ctx, on_root<Open> source, std::string const& label)
    -> result<std::optional<std::remove_cvref_t<typename on_root<Open>::opened>>> {
  using value = std::remove_cvref_t<typename on_root<Open>::opened>;
  static_assert(
      detail::can_travel<value>(),
      "skel::broadcast: the type cannot be sent. Make it a plain struct without pointers or views, give "
      "it a serialize() function (skel/serialization.hpp), or specialise skel::transfer_traits.");
  result<std::optional<value>> all;
  auto& mine = all.value;
  if constexpr (transferable<value>) {
    auto const open = [&] { mine.emplace(source.open()); };
    if (ctx.size() == 1) {
      all.report = detail::broadcast_alone(ctx, open);
      return all;
    }
    auto const packed = [&] {
      open();
      std::vector<std::byte> bytes;
      pack(*mine, bytes);
      return bytes;
    };
    auto sent = detail::broadcast_bytes(ctx, packed, label);
    all.report = std::move(sent.report);
    if (!sent.value) {
      mine.reset();
    } else if (!mine) {
      std::span<std::byte const> in(*sent.value);
      mine.emplace(unpack<value>(in));
    }
  }
  return all;
}

// Anything else than an on_root.
template <class Source, class... More>
  requires(!is_on_root<std::remove_cvref_t<Source>>)
void broadcast(context&, Source&&, More&&...) {
  static_assert(detail::never<Source>,
                "skel::broadcast: the value comes from skel::on_root(function), which the root calls.");
}

}  // namespace skel
