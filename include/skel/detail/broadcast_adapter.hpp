// broadcast as a divide_and_conquer over the bytes of the value.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "skel/broadcast.hpp"
#include "skel/bytes.hpp"
#include "skel/divide_and_conquer.hpp"
#include "skel/error.hpp"
#include "skel/transfer.hpp"

namespace skel {

namespace detail {

/// Some of the bytes that are on their way; halves refer to the same.
struct byte_stretch {
  std::shared_ptr<std::vector<std::byte> const> of;
  std::size_t first = 0, count = 0;
  [[nodiscard]] std::span<std::byte const> bytes() const { return std::span(*of).subspan(first, count); }
};

/// Parts travel down, and are exchanged until every rank has all.
struct broadcast_job {
  using problem = byte_stretch;
  using solution = std::vector<std::byte>;

  [[nodiscard]] bool trivial(problem const& p) const { return p.count <= 1; }
  [[nodiscard]] solution conquer(problem const& p) const { return solve(p); }
  [[nodiscard]] solution solve(problem const& p) const {
    auto const b = p.bytes();
    return {b.begin(), b.end()};
  }
  [[nodiscard]] std::array<problem, 2> divide(problem const& p) const { return divide(p, 0.5); }
  [[nodiscard]] std::array<problem, 2> divide(problem const& p, double share) const {
    auto const left =
        std::min(p.count - 1, 1 + static_cast<std::size_t>(static_cast<double>(p.count - 1) * share));
    return {problem{p.of, p.first, left}, problem{p.of, p.first + left, p.count - left}};
  }
  [[nodiscard]] solution combine(solution a, solution const& b) const {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
};

}  // namespace detail

template <>
struct transfer_traits<detail::byte_stretch> {
  static void pack(detail::byte_stretch const& s, std::vector<std::byte>& out) {
    auto const b = s.bytes();
    bytes::put_varint(out, b.size());
    out.insert(out.end(), b.begin(), b.end());
  }
  static detail::byte_stretch unpack(std::span<std::byte const>& in) {
    auto const count = static_cast<std::size_t>(bytes::get_varint(in));
    auto const b = bytes::get_bytes(in, count);
    return {std::make_shared<std::vector<std::byte> const>(b.begin(), b.end()), 0, count};
  }
};

template <class Open>
auto broadcast(context& ctx, on_root<Open> source, std::string const& label)
    -> std::optional<std::remove_cvref_t<typename on_root<Open>::opened>> {
  using value = std::remove_cvref_t<typename on_root<Open>::opened>;
  static_assert(detail::can_travel<value>(),
                "skel::broadcast: the type cannot be sent. Make it trivially copyable without pointers or "
                "views, give it a serialize() "
                "function, or specialise skel::transfer_traits.");
  std::optional<value> mine;
  if (ctx.size() == 1) {
    detail::call_slot const call(ctx);
    try {
      mine.emplace(source.open());
    } catch (std::exception const& e) {
      call.throw_if_nested();
      throw source_error(std::string("the source of the broadcast failed: ") + e.what());
    }
    call.throw_if_nested();
    return mine;
  }
  auto const packed = [&] {
    mine.emplace(source.open());
    auto bytes = std::make_shared<std::vector<std::byte>>();
    pack(*mine, *bytes);
    auto const count = bytes->size();
    return detail::byte_stretch{std::move(bytes), 0, count};
  };
  divide_and_conquer_options options;
  options.label = label;
  auto const all =
      divide_and_conquer(ctx, on_root(packed), detail::broadcast_job{}, division::hypercube{}, options);
  if (!all.value.here()) return std::nullopt;
  if (!mine) {
    std::span<std::byte const> in(*all.value);
    mine.emplace(unpack<value>(in));
  }
  return mine;
}

}  // namespace skel
